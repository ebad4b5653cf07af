package dev.weir.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.RunningEngine;
import dev.weir.http.RequestLimiter;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The quick start of the documentation. */
class QuickStartTest {
  @Test
  void fewLines_limitAServer(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("weir.yaml");
    Files.writeString(
        file,
        """
        domain: app
        descriptors:
          - key: ip
            rate_limit: {unit: minute, requests_per_unit: 100}
        """);
    Vertx vertx = Vertx.vertx();
    try (RunningEngine engine = RunningEngine.builder().rules(file).start()) {
      RequestLimiter limiter = RequestLimiter.builder(engine).exempt("/health").build();
      Router router = Router.router(vertx);
      router.route().handler(RateLimitHandler.of(limiter));
      router.get("/hello").handler(routing -> routing.end("hello"));
      HttpServer server = vertx.createHttpServer().requestHandler(router);
      server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
      URI hello = URI.create("http://127.0.0.1:" + server.actualPort() + "/hello");
      HttpResponse<String> response =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(hello).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(response.headers().firstValue("RateLimit").orElseThrow()).contains("r=99");
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }
}
