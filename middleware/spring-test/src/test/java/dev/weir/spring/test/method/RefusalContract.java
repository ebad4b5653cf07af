package dev.weir.spring.test.method;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.rules.Request;
import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * The contract of a refused call in a web application of either kind, whose answer needs no advice.
 * The application is {@link Site}, on a server with a port of its own.
 */
abstract class RefusalContract {
  @Configuration(proxyBeanMethods = false)
  @Import({Pages.class, OwnPages.class})
  static class Site {
    @Bean
    Decider decider() {
      return new Limited().engine;
    }
  }

  @RestController
  static class Pages {
    @GetMapping("/plain")
    @RateLimit(name = "checkout", key = "'plain'")
    public String plain() {
      return "done";
    }

    @GetMapping("/future")
    @RateLimit(name = "checkout", key = "'future'")
    public CompletableFuture<String> future() {
      return CompletableFuture.completedFuture("done");
    }

    @GetMapping("/mono")
    @RateLimit(name = "checkout", key = "'mono'")
    public Mono<String> mono() {
      return Mono.just("done");
    }
  }

  @RestController
  static class OwnPages {
    @GetMapping("/own")
    @RateLimit(name = "checkout", key = "'own'")
    public String own() {
      return "done";
    }

    @ExceptionHandler
    ResponseEntity<String> refused(RateLimitExceededException refusal) {
      return ResponseEntity.status(HttpStatus.CONFLICT).body("own");
    }
  }

  private final HttpClient client = HttpClient.newHttpClient();
  @LocalServerPort private int port;
  @Autowired private Decider decider;

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
    return client.send(request, BodyHandlers.ofString());
  }

  private void assertRefused(String key) throws IOException, InterruptedException {
    assertThat(get("/" + key).body()).isEqualTo("done");
    assertThat(get("/" + key).body()).isEqualTo("done");
    HttpResponse<String> refused = get("/" + key);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Content-Type"))
        .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
    assertThat(refused.headers().firstValue("Retry-After")).hasValue("60");
    assertThat(refused.headers().firstValue("Cache-Control")).hasValue("no-store");
    assertThat(refused.headers().firstValue("RateLimit"))
        .hasValueSatisfying(field -> assertThat(field).endsWith(";r=0;t=60"));
    assertThat(refused.headers().firstValue("RateLimit-Policy"))
        .hasValueSatisfying(field -> assertThat(field).endsWith(";q=2;w=60"));
    CompletableFuture<String> expected = new CompletableFuture<>();
    Request request = Request.of("shop", "name", "checkout", "key", key);
    decider.peek(
        request,
        answer -> expected.complete(new String(new CheckAnswer(request, answer).json(), UTF_8)));
    assertThat(refused.body()).isEqualTo(expected.join());
  }

  @Test
  void refusal_isTheServicesOwnAnswer() throws IOException, InterruptedException {
    assertRefused("plain");
  }

  @Test
  void refusedFuture_isToo() throws IOException, InterruptedException {
    assertRefused("future");
  }

  @Test
  void refusedMono_isToo() throws IOException, InterruptedException {
    assertRefused("mono");
  }

  @Test
  void handlerOfTheApplication_goesFirst() throws IOException, InterruptedException {
    get("/own");
    get("/own");
    assertThat(get("/own").statusCode()).isEqualTo(409);
    assertThat(get("/own").body()).isEqualTo("own");
  }
}
