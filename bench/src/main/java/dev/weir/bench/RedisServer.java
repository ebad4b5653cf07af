package dev.weir.bench;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import redis.embedded.core.ExecutableProvider;

/** A redis-server on the loopback interface that writes nothing to disk. */
final class RedisServer {
  private RedisServer() {}

  /**
   * Starts the machine's own redis-server, or else the one that comes with the test libraries.
   *
   * @param where what is done to the command, for example {@link Program#on}
   * @return the port
   */
  static String start(List<Program> started, UnaryOperator<List<String>> where) throws IOException {
    String port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = Integer.toString(free.getLocalPort());
    }
    List<String> command =
        List.of(
            executable(),
            "--port",
            port,
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no");
    Program.start(started, Pattern.compile("Ready to accept connections"), where.apply(command));
    return port;
  }

  private static String executable() throws IOException {
    if (Program.there("redis-server")) {
      return "redis-server";
    }
    try {
      File folder = Files.createTempDirectory("weir-redis").toFile();
      folder.deleteOnExit();
      File executable = ExecutableProvider.newJarResourceProvider(folder).get();
      executable.deleteOnExit();
      return executable.getPath();
    } catch (IOException | RuntimeException e) {
      throw new IOException("redis-server: not there (expected: on the PATH)", e);
    }
  }
}
