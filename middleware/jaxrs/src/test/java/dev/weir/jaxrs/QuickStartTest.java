package dev.weir.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weir.engine.RunningEngine;
import dev.weir.http.RequestLimiter;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The quick start of the documentation. */
class QuickStartTest {
  /** A resource. */
  @Path("hello")
  public static final class Hello {
    @GET
    public String hello() {
      return "hello";
    }
  }

  @Test
  void fewLines_limitAnApplication(@TempDir java.nio.file.Path folder) throws Exception {
    java.nio.file.Path file = folder.resolve("weir.yaml");
    Files.writeString(
        file,
        """
        domain: app
        descriptors:
          - key: route
            rate_limit: {unit: minute, requests_per_unit: 100}
        """);
    try (RunningEngine engine = RunningEngine.builder().rules(file).start()) {
      RequestLimiter limiter =
          RequestLimiter.builder(engine).descriptor("route={route}").exempt("/health").build();
      ResourceConfig application = new ResourceConfig(Hello.class);
      application.register(RateLimitFeature.builder().afterMatching(limiter).build());
      HttpServer server =
          JdkHttpServerFactory.createHttpServer(URI.create("http://127.0.0.1:0/"), application);
      try {
        URI hello = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hello");
        HttpResponse<String> response =
            HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(hello).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(response.headers().firstValue("RateLimit").orElseThrow()).contains("r=99");
      } finally {
        server.stop(0);
      }
    }
  }
}
