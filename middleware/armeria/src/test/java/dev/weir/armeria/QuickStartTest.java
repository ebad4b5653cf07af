package dev.weir.armeria;

import static org.assertj.core.api.Assertions.assertThat;

import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.server.Server;
import dev.weir.engine.RunningEngine;
import dev.weir.http.RequestLimiter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
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
    try (RunningEngine engine = RunningEngine.builder().rules(file).start()) {
      RequestLimiter limiter = RequestLimiter.builder(engine).exempt("/health").build();
      Server server =
          Server.builder()
              .http(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .service("/hello", (context, request) -> HttpResponse.of("hello"))
              .decorator(RateLimitService.newDecorator(limiter))
              .build();
      server.start().join();
      try (server) {
        URI hello = URI.create("http://127.0.0.1:" + server.activeLocalPort() + "/hello");
        java.net.http.HttpResponse<String> response =
            HttpClient.newHttpClient()
                .send(
                    HttpRequest.newBuilder(hello).build(),
                    java.net.http.HttpResponse.BodyHandlers.ofString());
        assertThat(response.headers().firstValue("RateLimit").orElseThrow()).contains("r=99");
      }
    }
  }
}
