package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.spring.RateLimitExceededException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** The contract of filters in an application of either kind. */
abstract class WebContract {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Pages.class)
  static class App {}

  /** Returns the property that makes it an application of this kind. */
  abstract String kind();

  /** Returns the class loader with which the application finds its server. */
  abstract ClassLoader classLoader();

  /** Returns the name of the bean that makes its server. */
  abstract String serverFactory();

  /** Returns a configuration that admits all users. */
  abstract Class<?> open();

  /** An application's own answers. */
  @RestControllerAdvice
  static class Advice {
    @ExceptionHandler
    ResponseEntity<String> refused(RateLimitExceededException refusal) {
      return ResponseEntity.status(HttpStatus.CONFLICT).body("own");
    }
  }

  private Site start(String... properties) {
    return start(App.class, properties);
  }

  private Site start(Class<?> app, String... properties) {
    String[] all = new String[properties.length + 1];
    all[0] = kind();
    System.arraycopy(properties, 0, all, 1, properties.length);
    return Site.start(classLoader(), new Class<?>[] {app, Site.Limits.class, open()}, all);
  }

  @Configuration(proxyBeanMethods = false)
  @Import({App.class, Advice.class})
  static class AdvisedApp {}

  @Test
  void noFilterIsConfigured_allPathsAreLimitedByAddress() {
    try (Site site = start()) {
      assertThat(site.hasBean(serverFactory())).isTrue();
      HttpResponse<String> first = site.get("/page");
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(first.headers().allValues("RateLimit")).hasSize(1);
      assertThat(first.headers().allValues("RateLimit-Policy")).hasSize(1);
      assertThat(site.status("/other")).isEqualTo(200);
      HttpResponse<String> third = site.get("/page");
      assertThat(third.statusCode()).isEqualTo(429);
      assertThat(third.headers().firstValue("Content-Type")).hasValue("application/problem+json");
      assertThat(third.headers().firstValue("Retry-After")).isPresent();
      assertThat(third.headers().allValues("RateLimit")).hasSize(1);
      assertThat(third.body()).contains("\"status\":429").contains("quota-exceeded");
      assertThat(site.bean(Pages.class).calls).hasValue(2);
    }
  }

  @Test
  void unknownPath_isCountedOnceDespiteItsErrorPage() {
    try (Site site = start()) {
      assertThat(site.status("/nowhere")).isEqualTo(404);
      assertThat(site.get("/nowhere").headers().allValues("RateLimit")).hasSize(1);
      assertThat(site.status("/nowhere")).isEqualTo(429);
    }
  }

  @Test
  void severalFilters_countEachItsOwnPaths() {
    try (Site site =
        start(
            "weir.filters[0].name=one",
            "weir.filters[0].paths=/page",
            "weir.filters[0].descriptors[0]=ip={ip}",
            "weir.filters[1].paths=/other",
            "weir.filters[1].descriptors[0]=user={header:X-User}")) {
      assertThat(site.status("/page")).isEqualTo(200);
      assertThat(site.status("/page")).isEqualTo(200);
      assertThat(site.status("/page;a=b")).isEqualTo(429);
      assertThat(site.status("/other", "X-User", "a")).isEqualTo(200);
      assertThat(site.status("/other", "X-User", "a")).isEqualTo(200);
      assertThat(site.status("/other", "X-User", "a")).isEqualTo(429);
      assertThat(site.status("/other", "X-User", "b")).isEqualTo(200);
    }
  }

  @Test
  void notEnabled_nothingIsLimited() {
    try (Site site = start("weir.enabled=false")) {
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/page")).isEqualTo(200);
      }
    }
  }

  @Test
  void missingHeader_isRefusedWhereThePropertiesSaySo() {
    try (Site site =
        start(
            "weir.filters[0].missing=refuse",
            "weir.filters[0].descriptors[0]=user={header:X-User}")) {
      assertThat(site.status("/page")).isEqualTo(400);
      assertThat(site.status("/page", "X-User", "a")).isEqualTo(200);
    }
  }

  @Test
  void refusal_canBeReadByOriginsThatTheHandlerAllows() {
    try (Site site = start()) {
      for (int i = 0; i < 2; i++) {
        HttpResponse<String> served = site.get("/shared", "Origin", Pages.FRIEND);
        assertThat(served.statusCode()).isEqualTo(200);
        assertThat(exposed(served)).contains("RateLimit", "Retry-After");
      }
      HttpResponse<String> refused = site.get("/shared", "Origin", Pages.FRIEND);
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.headers().allValues("Access-Control-Allow-Origin"))
          .containsExactly(Pages.FRIEND);
      assertThat(exposed(refused)).contains("RateLimit", "Retry-After");
      assertThat(refused.body()).contains("\"status\":429");
      HttpResponse<String> stranger = site.get("/shared", "Origin", "https://stranger.example");
      assertThat(stranger.statusCode()).isEqualTo(429);
      assertThat(stranger.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
      HttpResponse<String> unshared = site.get("/page", "Origin", Pages.FRIEND);
      assertThat(unshared.statusCode()).isEqualTo(429);
      assertThat(unshared.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
    }
  }

  private static String exposed(HttpResponse<String> response) {
    return String.join(", ", response.headers().allValues("Access-Control-Expose-Headers"));
  }

  @Test
  void preflight_isNotCounted() {
    try (Site site = start()) {
      for (int i = 0; i < 3; i++) {
        HttpResponse<String> preflight =
            site.send(
                    "OPTIONS",
                    "/shared",
                    "Origin",
                    Pages.FRIEND,
                    "Access-Control-Request-Method",
                    "GET")
                .join();
        assertThat(preflight.statusCode()).isEqualTo(200);
      }
      assertThat(site.status("/page")).isEqualTo(200);
    }
  }

  @Test
  void healthOfTheActuator_isNotCounted() {
    try (Site site =
        start(
            "management.endpoints.web.exposure.include=*",
            "management.endpoint.health.probes.enabled=true")) {
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/actuator/health")).isEqualTo(200);
        assertThat(site.status("/actuator/health/liveness")).isEqualTo(200);
        assertThat(site.status("/livez")).isEqualTo(200);
      }
      assertThat(site.status("/actuator/info")).isEqualTo(200);
      assertThat(site.status("/actuator/info")).isEqualTo(200);
      assertThat(site.status("/actuator/info")).isEqualTo(429);
    }
  }

  @Test
  void allOfTheActuator_isNotCountedWhereThePropertiesSaySo() {
    try (Site site =
        start("management.endpoints.web.exposure.include=*", "weir.exempt-actuator=all")) {
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/actuator/info")).isEqualTo(200);
        assertThat(site.status("/actuator")).isEqualTo(200);
      }
      assertThat(site.status("/page")).isEqualTo(200);
    }
  }

  @Test
  void noneOfTheActuatorIsExempt_healthIsCounted() {
    try (Site site = start("weir.exempt-actuator=none")) {
      assertThat(site.status("/actuator/health")).isEqualTo(200);
      assertThat(site.status("/actuator/health")).isEqualTo(200);
      assertThat(site.status("/actuator/health")).isEqualTo(429);
    }
  }

  @Test
  void respondByException_theApplicationAnswers() {
    try (Site site = start("weir.respond=exception")) {
      assertThat(site.status("/page")).isEqualTo(200);
      assertThat(site.status("/page")).isEqualTo(200);
      HttpResponse<String> refused = site.get("/page");
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(refused.body()).contains("quota-exceeded");
    }
  }

  @Test
  void respondByException_adviceAnswersAndNoHandlerRuns() {
    try (Site site = start(AdvisedApp.class, "weir.respond=exception")) {
      assertThat(site.status("/page")).isEqualTo(200);
      assertThat(site.status("/page")).isEqualTo(200);
      HttpResponse<String> refused = site.get("/page");
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).isEqualTo("own");
      assertThat(site.bean(Pages.class).calls).hasValue(2);
    }
  }

  @Test
  void noTrustedProxy_headerIsNotRead() {
    for (String strategy : strategies()) {
      try (Site site = start("server.forward-headers-strategy=" + strategy)) {
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.6")).isEqualTo(200);
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.7")).isEqualTo(200);
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.8")).as(strategy).isEqualTo(429);
      }
    }
  }

  /** Returns the strategies under which the server itself does not read the header. */
  abstract String[] strategies();

  @Test
  void spoofedHeader_clientIsTheRightmostUntrusted() {
    for (String strategy : new String[] {"none", "framework", "native"}) {
      try (Site site =
          start(
              "server.forward-headers-strategy=" + strategy,
              "weir.client-address.trusted-proxies=127.0.0.0/8",
              "weir.client-address.header=X-Forwarded-For")) {
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.6, 203.0.113.7")).isEqualTo(200);
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.7, 203.0.113.7")).isEqualTo(200);
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.8, 203.0.113.7"))
            .as(strategy)
            .isEqualTo(429);
        assertThat(site.status("/page", "X-Forwarded-For", "6.6.6.8, 203.0.113.8"))
            .as(strategy)
            .isEqualTo(200);
      }
    }
  }

  @Test
  void waitingRequest_isServedWhenItsTurnComes() {
    try (Site site = start("weir.filters[0].descriptors[0]=queued=all")) {
      assertThat(site.status("/page")).isEqualTo(200);
      CompletableFuture<HttpResponse<String>> waiting = site.send("GET", "/page");
      site.awaitWaiting();
      assertThat(waiting).isNotDone();
      site.ticker().advance(Duration.ofSeconds(1));
      assertThat(waiting.join().statusCode()).isEqualTo(200);
      assertThat(waiting.join().headers().allValues("RateLimit")).hasSize(1);
    }
  }
}
