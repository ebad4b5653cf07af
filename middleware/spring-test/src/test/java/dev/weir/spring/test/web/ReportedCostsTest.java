package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.servlet.RateLimitFilter;
import dev.weir.spring.web.ReactiveLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Tests of costs that an application reports when it has served a request. */
class ReportedCostsTest {
  private static final String[] BUDGET = {
    "weir.limits.requests.requests=100",
    "weir.limits.requests.per=hour",
    "weir.limits.requests.by=ip",
    "weir.limits.tokens.requests=1000",
    "weir.limits.tokens.per=hour",
    "weir.limits.tokens.by=ip",
    "weir.limits.tokens.costs=reported",
    "weir.retry-after.max=60s"
  };

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Answers.class)
  static class App {}

  /** A controller whose answers cost 300. */
  @RestController
  static class Answers {
    @GetMapping("/answer")
    String answer(HttpServletRequest request) {
      RateLimitFilter.charge(request, 300);
      return "answered";
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(ReactiveAnswers.class)
  static class ReactiveApp {}

  /** A controller whose answers cost 300, which is known behind their last byte. */
  @RestController
  static class ReactiveAnswers {
    @GetMapping("/answer")
    Mono<String> answer(ServerWebExchange exchange) {
      return Mono.just("answered").doOnTerminate(() -> ReactiveLimits.charge(exchange, 300));
    }
  }

  private static void assertFourPass(Site site) {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      statuses.add(site.status("/answer"));
    }
    assertThat(statuses).startsWith(200, 200, 200, 200, 429).doesNotContain(500);
    assertThat(statuses.stream().filter(status -> status == 200)).hasSize(4);
    HttpResponse<String> refused = site.get("/answer");
    assertThat(refused.headers().allValues("RateLimit").toString())
        .as("the limit of requests")
        .contains("r=87")
        .as("the budget")
        .contains("r=0");
    assertThat(refused.headers().firstValue("Retry-After")).hasValue("60");
    assertThat(refused.headers().firstValue("x-should-retry")).hasValue("false");
  }

  @Test
  void servlet_budgetRefusesFromItsDebtOn() {
    try (Site site =
        Site.start(Site.TOMCAT, new Class<?>[] {App.class, ServletWebTest.Open.class}, BUDGET)) {
      assertFourPass(site);
    }
  }

  @Test
  void webFlux_budgetRefusesFromItsDebtOn() {
    List<String> properties = new ArrayList<>(List.of(BUDGET));
    properties.add(Site.REACTIVE);
    try (Site site =
        Site.start(
            Site.NETTY,
            new Class<?>[] {ReactiveApp.class, ReactiveWebTest.Open.class},
            properties.toArray(String[]::new))) {
      assertFourPass(site);
    }
  }
}
