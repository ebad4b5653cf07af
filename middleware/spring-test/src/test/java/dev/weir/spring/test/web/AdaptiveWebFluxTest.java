package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.http.RequestLimiter;
import dev.weir.spring.web.ReactiveLimits;
import dev.weir.testkit.FakeTicker;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests of an adaptive limit in WebFlux, by a filter of the application. */
@Timeout(60)
class AdaptiveWebFluxTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(ReactiveWebTest.Open.class)
  static class App {
    @Bean
    AdaptiveLimiter adaptive(FakeTicker ticker) {
      return AdaptiveLimiter.builder()
          .algorithm(AdaptiveAlgorithm.AIMD)
          .initial(2)
          .droppedFrom(Duration.ofSeconds(10))
          .ticker(ticker)
          .build();
    }

    @Bean
    Backend backend(ReactiveLimits limits, AdaptiveLimiter adaptive) {
      return new Backend(limits, adaptive);
    }

    @Bean
    Answers answers() {
      return new Answers();
    }
  }

  @RestController
  static class Answers {
    @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> stream() {
      return Flux.just("x").concatWith(Flux.never());
    }

    @GetMapping("/hello")
    String hello() {
      return "hello";
    }
  }

  @Order(-101)
  static class Backend implements WebFilter {
    private final ReactiveLimits limits;
    private final RequestLimiter limiter;

    Backend(ReactiveLimits limits, AdaptiveLimiter adaptive) {
      this.limits = limits;
      limiter = limits.builder().descriptor("backend=1").adaptive(adaptive).build();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
      return limits.limit(limiter, exchange, null, () -> chain.filter(exchange));
    }
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void openStream_holdsItsPlaceAndTeachesTheLatencyOfItsHead() throws Exception {
    try (Site site =
        Site.start(Site.NETTY, App.class, Site.REACTIVE, "weir.filters[0].paths=/unused")) {
      AdaptiveLimiter adaptive = site.bean(AdaptiveLimiter.class);
      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), site.port())) {
        String head = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";
        client.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
        byte[] status = client.getInputStream().readNBytes(12);
        assertThat(new String(status, StandardCharsets.ISO_8859_1)).isEqualTo("HTTP/1.1 200");
        site.ticker().advance(Duration.ofSeconds(100));
        assertThat(adaptive.inFlight()).isEqualTo(1);
      }
      until(() -> adaptive.inFlight() == 0); // onComplete: for WebFlux it was a success.
      assertThat(adaptive.limit()).as("100 s would be a drop").isEqualTo(2);
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/hello")).isEqualTo(200);
        until(() -> adaptive.inFlight() == 0);
      }
      assertThat(adaptive.limit()).as("a window of four heads").isEqualTo(3);
    }
  }
}
