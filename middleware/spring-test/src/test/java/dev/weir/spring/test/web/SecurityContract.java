package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.rules.Request;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The contract of filters beside Spring Security, in an application of either kind. */
abstract class SecurityContract {
  private static final String AUTH = "Authorization";

  /** Starts an application with the user alice, whose pages below /open are public. */
  abstract Site start(String... properties);

  private Site startByLogin() {
    return start("weir.filters[0].descriptors[0]=user={login|ip}");
  }

  @Test
  void login_isCountedApartFromTheAddress() {
    try (Site site = startByLogin()) {
      String right = Site.basic(Site.RIGHT);
      assertThat(site.status("/page", AUTH, right)).isEqualTo(200);
      assertThat(site.status("/page", AUTH, right)).isEqualTo(200);
      assertThat(site.status("/page", AUTH, right)).isEqualTo(429);
      assertThat(site.status("/open/page")).isEqualTo(200);
      assertThat(site.status("/open/page")).isEqualTo(200);
      assertThat(site.status("/open/page")).isEqualTo(429);
    }
  }

  @Test
  void filterByLogin_isAfterSecurity() {
    try (Site site = startByLogin()) {
      String wrong = Site.basic("wrong");
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/page", AUTH, wrong)).isEqualTo(401);
        assertThat(site.status("/page")).isEqualTo(401);
      }
    }
  }

  @Test
  void filterByAddress_isBeforeSecurity() {
    try (Site site = start()) {
      String wrong = Site.basic("wrong");
      assertThat(site.status("/page", AUTH, wrong)).isEqualTo(401);
      HttpResponse<String> second = site.get("/page", AUTH, wrong);
      assertThat(second.statusCode()).isEqualTo(401);
      assertThat(second.headers().allValues("RateLimit")).hasSize(1);
      assertThat(site.status("/page", AUTH, wrong)).isEqualTo(429);
      assertThat(site.status("/page", AUTH, Site.basic(Site.RIGHT))).isEqualTo(429);
    }
  }

  @Test
  void failedLoginsOnly_othersAreGivenBack() {
    try (Site site =
        start(
            "weir.filters[0].descriptors[0]=failed={ip}",
            "weir.filters[0].refund-unless-status=401")) {
      String right = Site.basic(Site.RIGHT);
      String wrong = Site.basic("wrong");
      for (int i = 0; i < 4; i++) {
        assertThat(site.status("/page", AUTH, right)).isEqualTo(200);
        awaitLeft(site, 2);
      }
      assertThat(site.status("/page", AUTH, wrong)).isEqualTo(401);
      assertThat(site.status("/page", AUTH, right)).isEqualTo(200);
      awaitLeft(site, 1);
      assertThat(site.status("/page", AUTH, wrong)).isEqualTo(401);
      assertThat(site.status("/page", AUTH, wrong)).isEqualTo(429);
      assertThat(site.status("/page", AUTH, right)).isEqualTo(429);
    }
  }

  /**
   * Returns when this number of failures is left: a server may give back permits after the client
   * has read.
   */
  static void awaitLeft(Site site, long left) {
    Request request = Request.of("shop", "failed", "127.0.0.1");
    AtomicLong remaining = new AtomicLong(-1);
    while (remaining.get() != left) {
      site.bean(Decider.class)
          .peek(
              request,
              answer ->
                  remaining.set(
                      Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    }
  }

  @Test
  void manyWrongPasswordsAtOnce_noMoreThanTheLimitAreTried() {
    try (Site site =
        start(
            "weir.filters[0].descriptors[0]=failed={ip}",
            "weir.filters[0].refund-unless-status=401")) {
      List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        sent.add(site.send("GET", "/page", AUTH, Site.basic("wrong")));
      }
      assertThat(sent.stream().map(each -> each.join().statusCode()).filter(s -> s == 401))
          .hasSize(2);
    }
  }

  @Test
  void waitingRequest_isServedWithItsLogin() {
    for (String order : new String[] {"auto", "-50"}) {
      try (Site site =
          start("weir.filters[0].descriptors[0]=queued=all", "weir.filters[0].order=" + order)) {
        String right = Site.basic(Site.RIGHT);
        assertThat(site.status("/who", AUTH, right)).isEqualTo(200);
        CompletableFuture<HttpResponse<String>> waiting = site.send("GET", "/who", AUTH, right);
        site.awaitWaiting();
        assertThat(waiting).isNotDone();
        site.ticker().advance(Duration.ofSeconds(1));
        assertThat(waiting.join().statusCode()).isEqualTo(200);
        assertThat(waiting.join().body()).isEqualTo("alice");
      }
    }
  }
}
