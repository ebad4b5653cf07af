package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One configuration in a real nginx, where the machine has one, and imported: each passes as many
 * of the same requests.
 */
class RealNginxTest {
  /** The requests that pass of {@link #SENT}, by zone. nginx 1.22.1 passes as many. */
  private static final Map<String, Integer> PASS =
      Map.of("none", 1, "burst", 10, "two", 4, "open", 2);

  private static final int SENT = 20;
  private static final int TRIES = 5;

  private static String limits(Path folder) {
    return """
    limit_req_zone $remote_addr zone=none:1m rate=1r/m;
    limit_req_zone $remote_addr zone=burst:1m rate=1r/m;
    limit_req_zone $remote_addr zone=two:1m rate=1r/m;
    limit_req_zone $remote_addr zone=wide:1m rate=1000r/s;
    limit_conn_zone $remote_addr zone=open:1m;
    server {
      listen 127.0.0.1:PORT;
      root %s;
      limit_req zone=none;
      location /none { }
      location /burst { limit_req zone=burst burst=9 nodelay; }
      location /two {
        limit_req zone=wide burst=1000 nodelay;
        limit_req zone=two burst=3 nodelay;
      }
      location /open { limit_req zone=wide burst=1000 nodelay; limit_conn open 2; limit_rate 1k; }
    }
    """
        .formatted(folder);
  }

  @Test
  void importedRules_passWhatNginxPasses(@TempDir Path folder) throws Exception {
    assertThat(imported(folder)).isEqualTo(PASS);
    Path program = program();
    if (program != null) {
      for (String zone : PASS.keySet()) {
        Files.writeString(folder.resolve(zone), "x".repeat(100_000));
      }
      assertThat(real(program, folder)).as(program.toString()).isEqualTo(PASS);
    }
  }

  private static Map<String, Integer> imported(Path folder) {
    String text = Imports.nginx("http {\n" + limits(folder) + "}").text("imported");
    Map<String, Integer> passed = new LinkedHashMap<>();
    try (Engine engine =
        Engine.create(new MemoryStore(), new FakeTicker(), EngineSettings.DEFAULTS)) {
      engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", text).ruleSet()));
      for (String zone : PASS.keySet()) {
        int allowed = 0;
        for (int i = 0; i < SENT; i++) {
          allowed += engine.decide(Request.of("imported", zone, "127.0.0.1")).allowed() ? 1 : 0;
        }
        passed.put(zone, allowed);
      }
    }
    return passed;
  }

  private static @Nullable Path program() {
    String path = System.getenv("PATH") + ":/usr/sbin:/usr/local/sbin";
    return Stream.of(path.split(":", -1))
        .map(folder -> Path.of(folder, "nginx"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  private static Map<String, Integer> real(Path program, Path folder) throws IOException {
    IOException failure = new IOException("nginx: not started");
    for (int i = 0; i < TRIES; i++) {
      int port = Ports.free();
      Path settings = Files.writeString(folder.resolve("nginx.conf"), settings(folder, port));
      try (ChildProcess process =
          ChildProcess.of(program.toString(), "-e", "stderr", "-p", folder.toString())
              .options("-c", settings.toString())
              .start()) {
        process.await("start worker processes");
        return passed(port);
      } catch (IOException e) {
        failure = e; // Another process took the port.
      }
    }
    throw failure;
  }

  private static String settings(Path folder, int port) {
    StringBuilder folders = new StringBuilder();
    for (String name : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
      Path temporary = folder.resolve("temp-" + name);
      folders.append(name).append("_temp_path ").append(temporary).append(";\n");
    }
    return """
    daemon off;
    user root;
    worker_processes 1;
    error_log stderr notice;
    pid %s;
    events { worker_connections 64; }
    http {
    access_log off;
    %s%s}
    """
        .formatted(
            folder.resolve("nginx.pid"),
            folders,
            limits(folder).replace("PORT", Integer.toString(port)));
  }

  private static Map<String, Integer> passed(int port) throws IOException {
    Map<String, Integer> passed = new LinkedHashMap<>();
    List<Socket> open = new ArrayList<>();
    try {
      for (String zone : PASS.keySet()) {
        int ok = 0;
        for (int i = 0; i < SENT; i++) {
          Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
          open.add(socket);
          String request = "GET /" + zone + " HTTP/1.0\r\n\r\n";
          socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
          byte[] head = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
          ok += new String(head, StandardCharsets.US_ASCII).endsWith(" 200") ? 1 : 0;
        }
        passed.put(zone, ok);
      }
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
    return passed;
  }
}
