package dev.weir.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.config.Cause;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the live statistics of a server, over its port for administration. */
@Timeout(120)
class LiveStreamTest {
  private static final Cause CAUSE = Cause.of("test", "for a test");

  private final TestConfigStores.Shared store = TestConfigStores.store();
  private final Tokens.NewToken token =
      Tokens.create(store.store, "ann", Role.VIEWER, Duration.ofDays(1), CAUSE);

  private RunningServer start() throws Exception {
    store.push(RunningServer.RULES);
    return RunningServer.start(
        Map.of("config-store", store.address, "admin-port", "0", "request-timeout", "300ms"));
  }

  private HttpResponse<String> request(RunningServer running, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + running.server.adminPort() + path);
    return Retried.get(
        () ->
            running.send(
                HttpRequest.newBuilder(uri)
                    .header("Authorization", "Bearer " + token.text())
                    .GET()));
  }

  /** Opens the stream; reading begins with its head. */
  private BufferedReader open(RunningServer running) throws Exception {
    return Retried.get(
        () -> {
          Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.adminPort());
          socket.setSoTimeout(60_000);
          String request =
              "GET /admin/v1/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                  + token.text()
                  + "\r\n\r\n";
          socket.getOutputStream().write(request.getBytes(ISO_8859_1));
          PushbackInputStream bytes = new PushbackInputStream(socket.getInputStream());
          int first = bytes.read();
          assertThat(first).isEqualTo('H');
          bytes.unread(first);
          return new BufferedReader(new InputStreamReader(bytes, ISO_8859_1));
        });
  }

  /** Reads to a line that begins like this; returns everything that was read. */
  private static String await(BufferedReader in, String begin) throws IOException {
    StringBuilder read = new StringBuilder();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      read.append(line).append('\n');
      if (line.startsWith(begin)) {
        return read.toString();
      }
    }
    throw new IOException("ended before " + begin + ": " + read);
  }

  @Test
  void stream_goesOnBeyondTheRequestTimeout_andEndsWithItsToken() throws Exception {
    try (RunningServer running = start();
        BufferedReader in = open(running)) {
      String head = await(in, "event: tick");
      assertThat(head).startsWith("HTTP/1.1 200 ").containsIgnoringCase("text/event-stream");
      for (int i = 0; i < 200; i++) {
        var unused = running.check("user", "ann");
      }
      String first = await(in, "event: tick") + await(in, "data: ");
      String second = await(in, "event: tick") + await(in, "data: ");
      assertThat(first + second).contains("\"refused\":").contains("id: ");
      assertThat(request(running, "/admin/v1/stats").body()).contains("\"persistent\":false");
      assertThat(request(running, "/admin/v1/refusals").body())
          .contains("\"rule\":\"")
          .doesNotContain("\"ann\"");
      assertThat(request(running, "/admin/v1/top?scope=all").body())
          .contains("\"asked\":1,\"answered\":1");
      assertThat(Tokens.revoke(store.store, token.id(), CAUSE)).isTrue();
      assertThat(await(in, "event: end") + await(in, "data: ")).contains("session ended");
      assertThat(request(running, "/admin/v1/stats").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void serverThatStops_endsItsStreams() throws Exception {
    RunningServer running = start();
    try (BufferedReader in = open(running)) {
      String unused = await(in, "event: tick");
      running.close();
      assertThat(await(in, "event: end") + await(in, "data: ")).contains("the server stops");
    }
  }
}
