package dev.weir.bench.redis;

import dev.weir.bench.Program;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/** A redis-server on the loopback interface that writes nothing to disk. */
public final class RedisServer {
  private RedisServer() {}

  /**
   * Starts the machine's own redis-server, or else the one of the test libraries.
   *
   * @param where a change of the command, for example {@link Program#on}
   * @return the port
   */
  public static String start(List<Program> started, UnaryOperator<List<String>> where)
      throws IOException {
    String port = freePort();
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

  /**
   * Starts a redis-server that answers a write when it is on the disk.
   *
   * @param folder the folder for its file
   * @param master the port of the server that it replicates, and has replicated when this returns;
   *     null if it is not a replica
   * @return the port
   */
  static String durable(List<Program> started, Path folder, @Nullable String master)
      throws IOException {
    String port = freePort();
    List<String> command =
        new ArrayList<>(
            List.of(
                executable(),
                "--port",
                port,
                "--bind",
                "127.0.0.1",
                "--dir",
                Files.createDirectories(folder).toString(),
                "--save",
                "",
                "--appendonly",
                "yes",
                "--appendfsync",
                "always",
                "--repl-diskless-sync-delay",
                "0"));
    String ready = "Ready to accept connections";
    if (master != null) {
      command.addAll(List.of("--replicaof", "127.0.0.1 " + master));
      ready = "MASTER <-> REPLICA sync: Finished with success";
    }
    Program.start(started, Pattern.compile(ready), command);
    return port;
  }

  public static String freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return Integer.toString(free.getLocalPort());
    }
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
