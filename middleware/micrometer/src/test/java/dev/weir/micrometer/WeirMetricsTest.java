package dev.weir.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.SingleLimiter;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.testkit.FakeTicker;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WeirMetricsTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final FakeTicker ticker = new FakeTicker();

  private double count(String name, String... tags) {
    return registry.get(name).tags(tags).counter().count();
  }

  private double gauge(String name) {
    return registry.get(name).tags("limiter", "api").gauge().value();
  }

  @Test
  void decisions_areCountedByPolicyAndReason() {
    RateLimiter limiter =
        RateLimiter.builder(Quota.perSecond(2), Quota.perMinute(3)).ticker(ticker).build();
    assertThat(WeirMetrics.monitor(registry, limiter, "api")).isSameAs(limiter);
    for (int i = 0; i < 5; i++) {
      limiter.tryAcquire("k");
    }
    ticker.advance(Duration.ofSeconds(1));
    limiter.tryAcquire("k");
    limiter.tryAcquire("k");
    limiter.packed().decide("k", 1);
    limiter.peek("k");

    String[] first = {"limiter", "api", "policy", "default", "reason", "over_limit"};
    assertThat(count("weir.requests", first)).isEqualTo(3);
    assertThat(count("weir.requests", "policy", "default#2", "reason", "over_limit")).isEqualTo(2);
    assertThat(
            registry.get("weir.requests").tags("outcome", "allowed").counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum())
        .isEqualTo(3);
  }

  @Test
  void permits_areSummed_ofAllowedAndRefusedApart() {
    RateLimiter limiter = RateLimiter.builder(Quota.perMinute(10)).ticker(ticker).build();
    WeirMetrics.monitor(registry, limiter, "api");
    limiter.tryAcquire("a", 7);
    limiter.tryAcquire("a", 4);
    assertThat(count("weir.permits", "outcome", "allowed")).isEqualTo(7);
    assertThat(count("weir.permits", "outcome", "refused")).isEqualTo(4);
  }

  @Test
  void state_isShown_andFallsWhenMemoryIsGivenBack() {
    RateLimiter limiter =
        RateLimiter.builder(Quota.perMinute(10)).ticker(ticker).maxKeys(1_000).build();
    WeirMetrics.monitor(registry, limiter, "api");
    for (int i = 0; i < 500; i++) {
      limiter.tryAcquire("user " + i);
    }
    assertThat(gauge("weir.keys")).isEqualTo(500);
    assertThat(gauge("weir.memory")).isPositive();
    assertThat(gauge("weir.fill")).isEqualTo(50);
    for (int i = 0; i < 40; i++) {
      ticker.advance(Duration.ofSeconds(10));
    }
    assertThat(gauge("weir.keys")).isZero();
  }

  @Test
  void adaptiveLimiter_isShown() {
    AdaptiveLimiter limiter =
        AdaptiveLimiter.builder().initial(2).maxWaiting(1).ticker(ticker).build();
    assertThat(WeirMetrics.monitor(registry, limiter, "api")).isSameAs(limiter);
    AdaptivePermit first = limiter.tryAcquire();
    AdaptivePermit second = limiter.tryAcquire();
    assertThat(limiter.tryAcquire().granted()).isFalse();
    assertThat(limiter.acquireAsync(Duration.ofSeconds(1))).isNotDone();
    assertThat(gauge("weir.adaptive.limit")).isEqualTo(2);
    assertThat(gauge("weir.adaptive.in.flight")).isEqualTo(2);
    assertThat(gauge("weir.adaptive.waiting")).isEqualTo(1);
    assertThat(registry.get("weir.adaptive.refused").functionCounter().count()).isEqualTo(1);
    assertThat(first.end(RequestOutcome.DROPPED)).isTrue();
    second.close();
    assertThat(gauge("weir.adaptive.limit")).isEqualTo(1);
    assertThat(gauge("weir.adaptive.in.flight")).isEqualTo(1);
  }

  @Test
  void noTag_holdsAKey() {
    RateLimiter limiter = RateLimiter.of(Quota.perMinute(1));
    WeirMetrics.monitor(registry, limiter, "api");
    limiter.tryAcquire("secret-1");
    limiter.tryAcquire("secret-1");
    limiter.forKey("secret-2", "part").tryAcquire();
    assertThat(registry.getMeters().stream().map(Meter::getId).map(Object::toString).toList())
        .isNotEmpty()
        .noneMatch(id -> id.contains("secret"));
  }

  @Test
  void listener_countsForALimiterWithoutKeys() {
    SingleLimiter limiter =
        RateLimiter.builder(Quota.perMinute(1))
            .listener(WeirMetrics.listener(registry, "mail"))
            .buildSingle();
    limiter.tryAcquire();
    limiter.tryAcquire();
    assertThat(count("weir.requests", "limiter", "mail", "outcome", "refused")).isOne();
  }

  @Test
  @SuppressWarnings("NullAway")
  void null_isRefusedByItsName() {
    assertThatNullPointerException()
        .isThrownBy(() -> WeirMetrics.listener(registry, null))
        .withMessage("name: null (expected: a value)");
  }
}
