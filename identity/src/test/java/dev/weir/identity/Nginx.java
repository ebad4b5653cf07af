package dev.weir.identity;

import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A real nginx that answers with the client's address that its realip module has found. */
final class Nginx implements AutoCloseable {
  private static final int TRIES = 5;

  private final ChildProcess process;
  private final int port;

  private Nginx(ChildProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Returns the path of an nginx with the module, null if the machine has none. */
  static @Nullable Path program() {
    String path = System.getenv("PATH") + ":/usr/sbin:/usr/local/sbin";
    return Stream.of(path.split(":", -1))
        .map(folder -> Path.of(folder, "nginx"))
        .filter(Files::isExecutable)
        .filter(Nginx::hasRealip)
        .findFirst()
        .orElse(null);
  }

  private static boolean hasRealip(Path program) {
    try {
      return ChildProcess.of(program.toString(), "-V").run().contains("--with-http_realip_module");
    } catch (IOException e) {
      return false;
    }
  }

  /** Starts nginx in the folder, on a free port of the loopback interface. */
  static Nginx start(Path program, Path folder, List<String> trusted) throws IOException {
    IOException failure = new IOException("nginx: not started");
    for (int i = 0; i < TRIES; i++) {
      int port = Ports.free();
      Path settings = folder.resolve("nginx.conf");
      Files.writeString(settings, settings(folder, port, trusted));
      ChildProcess process =
          ChildProcess.of(program.toString(), "-e", "stderr", "-p", folder.toString())
              .options("-c", settings.toString())
              .start();
      try {
        process.await("start worker processes");
        return new Nginx(process, port);
      } catch (IOException e) {
        process.close();
        failure = e; // Another process took the port.
      }
    }
    throw failure;
  }

  private static String settings(Path folder, int port, List<String> trusted) {
    StringBuilder ranges = new StringBuilder();
    trusted.forEach(range -> ranges.append("  set_real_ip_from ").append(range).append(";\n"));
    StringBuilder folders = new StringBuilder();
    for (String name : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
      Path temporary = folder.resolve(name);
      folders.append("  ").append(name).append("_temp_path ").append(temporary).append(";\n");
    }
    return """
    daemon off;
    worker_processes 1;
    error_log stderr notice;
    pid %s;
    events { worker_connections 64; }
    http {
      access_log off;
      real_ip_header X-Forwarded-For;
      real_ip_recursive on;
    %s%s  server {
        listen 127.0.0.1:%d;
        location / { return 200 $remote_addr; }
      }
    }
    """
        .formatted(folder.resolve("nginx.pid"), ranges, folders, port);
  }

  /** Sends a request from a local address, and returns the answer. */
  String client(String peer, List<String> lines) throws IOException {
    List<String> request = new ArrayList<>(List.of("GET / HTTP/1.0", "Host: localhost"));
    lines.forEach(line -> request.add("X-Forwarded-For: " + line));
    request.add("\r\n");
    InetAddress local = InetAddress.getByName(peer);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port, local, 0)) {
      socket.getOutputStream().write(String.join("\r\n", request).getBytes(StandardCharsets.UTF_8));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
