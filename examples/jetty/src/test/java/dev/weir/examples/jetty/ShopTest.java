package dev.weir.examples.jetty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the README's examples, on a free port. */
class ShopTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private Shop shop;

  @BeforeEach
  void start() throws Exception {
    shop = Shop.start(0, Path.of("weir.yaml"));
  }

  @AfterEach
  void close() throws Exception {
    shop.close();
  }

  private HttpRequest get(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + shop.port() + path)).build();
  }

  private HttpResponse<String> send(String path) throws IOException, InterruptedException {
    return client.send(get(path), BodyHandlers.ofString());
  }

  @Test
  void sixthGreeting_isRefusedWithTheReason() throws Exception {
    for (int i = 4; i >= 0; i--) {
      HttpResponse<String> greeting = send("/hello");
      assertThat(greeting.statusCode()).isEqualTo(200);
      assertThat(greeting.headers().firstValue("RateLimit").orElse(""))
          .startsWith("\"hello\";r=" + i);
    }
    HttpResponse<String> refusal = send("/hello");
    assertThat(refusal.statusCode()).isEqualTo(429);
    assertThat(refusal.headers().firstValue("Retry-After")).isPresent();
    assertThat(refusal.body()).contains("\"title\"", "hello");
    assertThat(send("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void reportsAtOnce_waitForTheirTurn() {
    List<CompletableFuture<HttpResponse<String>>> reports = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      reports.add(client.sendAsync(get("/report"), BodyHandlers.ofString()));
    }
    assertThat(reports).allSatisfy(each -> assertThat(each.join().statusCode()).isEqualTo(200));
  }
}
