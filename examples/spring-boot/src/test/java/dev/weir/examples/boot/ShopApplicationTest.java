package dev.weir.examples.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests of the README's examples, on a free port. */
class ShopApplicationTest {
  private static final String ALICE = "alice:wonderland";
  private static final String BOB = "bob:builder";

  private final HttpClient client = HttpClient.newHttpClient();
  private ConfigurableApplicationContext application;

  @BeforeEach
  void start() {
    application = SpringApplication.run(ShopApplication.class, "--server.port=0");
  }

  @AfterEach
  void close() {
    application.close();
  }

  private CompletableFuture<HttpResponse<String>> send(String path, String user) {
    String port = application.getEnvironment().getProperty("local.server.port");
    byte[] bytes = user.getBytes(StandardCharsets.UTF_8);
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Authorization", "Basic " + Base64.getEncoder().encodeToString(bytes))
            .build(),
        BodyHandlers.ofString());
  }

  private int status(String path, String user) {
    return send(path, user).join().statusCode();
  }

  @Test
  void fiveWrongPasswords_shutOutTheUserAlone() {
    assertThat(status("/quote", ALICE)).isEqualTo(200);
    for (int i = 0; i < 5; i++) {
      assertThat(status("/quote", "alice:wrong")).isEqualTo(401);
    }
    assertThat(status("/quote", "alice:wrong")).isEqualTo(429);
    assertThat(status("/quote", ALICE)).isEqualTo(429);
    assertThat(status("/quote", BOB)).isEqualTo(200);
  }

  @Test
  void eightWrongNames_shutOutTheAddress() {
    for (int i = 0; i < 8; i++) {
      assertThat(status("/quote", "user" + i + ":guess")).isEqualTo(401);
    }
    HttpResponse<String> refusal = send("/quote", BOB).join();
    assertThat(refusal.statusCode()).isEqualTo(429);
    assertThat(refusal.body()).contains("failed-logins-of-address");
  }

  @Test
  void plans_haveLimitsOfTheirOwn() {
    for (int i = 0; i < 3; i++) {
      assertThat(status("/quote", ALICE)).isEqualTo(200);
    }
    HttpResponse<String> refusal = send("/quote", ALICE).join();
    assertThat(refusal.statusCode()).isEqualTo(429);
    assertThat(refusal.body()).contains("free-plan");
    for (int i = 0; i < 6; i++) {
      assertThat(status("/quote", BOB)).isEqualTo(200);
    }
    assertThat(send("/quote", BOB).join().body()).contains("pro-plan");
  }

  @Test
  void reportsAtOnce_waitForTheirTurn() {
    List<CompletableFuture<HttpResponse<String>>> reports = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      reports.add(send("/report", ALICE));
    }
    assertThat(reports).allSatisfy(each -> assertThat(each.join().statusCode()).isEqualTo(200));
  }
}
