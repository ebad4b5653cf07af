package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.wire.testkit.Pem;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of TLS on the ports for HTTP and Redis clients, whose certificates may change. */
class TlsTest {
  @TempDir private static Path folder;
  private static Pem first;
  private static Pem second;
  private static Pem client;

  @BeforeAll
  static void makeCertificates() throws Exception {
    first = Pem.make(folder, "first");
    second = Pem.make(folder, "second");
    client = Pem.make(folder, "tlsclient");
  }

  private static RunningServer start(Pem pem, String... more) throws Exception {
    return RunningServer.start(
        Map.of("tls-cert", pem.certificate().toString(), "tls-key", pem.key().toString()), more);
  }

  private static HttpResponse<String> health(
      RunningServer running, SSLContext tls, HttpClient.Version version) throws Exception {
    HttpClient http = HttpClient.newBuilder().sslContext(tls).version(version).build();
    URI uri = URI.create("https://127.0.0.1:" + running.server.httpPort() + "/healthcheck");
    return http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String ping(RunningServer running, SSLContext tls) throws Exception {
    try (RespClient resp = new RespClient(running.server.respPort(), tls)) {
      return resp.exchange("PING");
    }
  }

  @Test
  void everyDoorSpeaksTls_andHttpBothVersions() throws Exception {
    try (RunningServer running = start(first)) {
      SSLContext tls = first.trustedBy();
      assertThat(ping(running, tls)).isEqualTo("+PONG|");
      for (HttpClient.Version version : HttpClient.Version.values()) {
        HttpResponse<String> response = health(running, tls, version);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.version()).isEqualTo(version);
      }
      assertThatThrownBy(() -> ping(running, second.trustedBy())).isInstanceOf(IOException.class);
    }
  }

  @Test
  void withAClientCa_onlyItsClientsAreServed() throws Exception {
    try (RunningServer running = start(first, "tls-client-ca", client.certificate().toString())) {
      SSLContext known = first.trustedBy(client);
      assertThat(ping(running, known)).isEqualTo("+PONG|");
      assertThat(health(running, known, HttpClient.Version.HTTP_1_1).statusCode()).isEqualTo(200);
      for (SSLContext stranger : new SSLContext[] {first.trustedBy(), first.trustedBy(second)}) {
        assertThatThrownBy(() -> ping(running, stranger)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> health(running, stranger, HttpClient.Version.HTTP_1_1))
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void changedCertificate_isForNewConnections_andABrokenOneChangesNothing() throws Exception {
    Path certificate = folder.resolve("now.crt");
    Path key = folder.resolve("now.key");
    Files.copy(first.certificate(), certificate, StandardCopyOption.REPLACE_EXISTING);
    Files.copy(first.key(), key, StandardCopyOption.REPLACE_EXISTING);
    try (RunningServer running = start(new Pem(certificate, key, first.store()));
        RespClient before = new RespClient(running.server.respPort(), first.trustedBy())) {
      assertThat(before.exchange("PING")).isEqualTo("+PONG|");
      try (LogCapture log = new LogCapture()) {
        change(certificate, Files.readString(second.key()));
        log.await("cannot be used, the old content stays in force");
        assertThat(ping(running, first.trustedBy())).isEqualTo("+PONG|");
        change(certificate, Files.readString(second.certificate()));
        log.await("the old content stays in force: the key does not belong to the certificate");
        assertThat(ping(running, first.trustedBy())).isEqualTo("+PONG|");
        change(key, Files.readString(second.key()));
        log.await("changed, in force for new connections");
      }
      assertThat(ping(running, second.trustedBy())).isEqualTo("+PONG|");
      assertThatThrownBy(() -> ping(running, first.trustedBy())).isInstanceOf(IOException.class);
      assertThat(health(running, second.trustedBy(), HttpClient.Version.HTTP_2).statusCode())
          .isEqualTo(200);
      assertThat(before.exchange("PING")).isEqualTo("+PONG|");
    }
  }

  @Test
  void strangersOverHttp2_areTold_andDisturbNobodyOnTheirConnection() throws Exception {
    Path tokens = Files.writeString(folder.resolve("tokens"), "sixteen-and-more-letters\n");
    try (RunningServer running = start(first, "token-file", tokens.toString())) {
      HttpClient http = HttpClient.newBuilder().sslContext(first.trustedBy()).build();
      URI uri = URI.create("https://127.0.0.1:" + running.server.httpPort() + "/metrics");
      for (int i = 0; i < 3; i++) {
        HttpResponse<String> refused =
            http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("connection")).isEmpty();
        HttpResponse<String> known =
            http.send(
                HttpRequest.newBuilder(uri)
                    .header("Authorization", "Bearer sixteen-and-more-letters")
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(known.statusCode()).isEqualTo(200);
        assertThat(known.body()).contains("weir_connections{door=\"http\"} 1");
      }
    }
  }

  /** Writes a file in one step, with the time of the last one, as a copy or an archive may do. */
  private static void change(Path file, String text) throws Exception {
    Path next = Files.writeString(file.resolveSibling("next"), text);
    Files.setLastModifiedTime(next, Files.getLastModifiedTime(file));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }
}
