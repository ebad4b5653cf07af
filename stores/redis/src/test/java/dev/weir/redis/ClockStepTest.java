package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The effect of a step of the clock of Redis's host on keys that were charged before. */
class ClockStepTest {
  private static final long PERMITS = 5;
  private static final long WINDOW = Duration.ofSeconds(4).toNanos();
  private static final long HOUR = Duration.ofHours(1).toNanos();
  private static final long START = 1_000_000 * WINDOW;

  private final Store store = Redis.emptyStore();

  private Binding binding(String name, Algorithm algorithm) {
    return store.bind(
        name, Policy.builder(new Quota(PERMITS, WINDOW)).algorithm(algorithm).build(), START);
  }

  private Charges decide(Binding binding, long permits, long nowNanos) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(new Charges().add(binding, 7, permits), nowNanos, done::complete);
    return done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void stepBack_keepsAnEmptyKeyShutForAsLong_andNewNamesOpen(Algorithm algorithm) {
    Binding binding = binding("used", algorithm);
    assertThat(decide(binding, PERMITS, START).allowed()).isTrue();
    long back = START - HOUR;
    Charges refused = decide(binding, PERMITS, back);
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.retryAfterNanos(0)).isBetween(HOUR, HOUR + 2 * WINDOW);
    assertThat(decide(binding, 1, START - 1_000).allowed()).isFalse();
    assertThat(decide(binding, PERMITS, back + refused.retryAfterNanos(0)).allowed()).isTrue();

    // Another --store-prefix has the same effect.
    assertThat(decide(binding("other", algorithm), PERMITS, back).allowed()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void stepForward_isOneMoreQuota_andTheWayBackNone(Algorithm algorithm) {
    Binding binding = binding("ahead", algorithm);
    assertThat(decide(binding, PERMITS, START).allowed()).isTrue();
    assertThat(decide(binding, PERMITS, START + HOUR).allowed()).isTrue();
    assertThat(decide(binding, 1, START + 1_000).allowed()).isFalse();
  }

  /** A reading of the clock, and the permits requested at that time. */
  private record Reading(long nanos, long permits) {}

  @Test
  void clockThatIsSetBackAndReturns_howeverOften_mintsNothing() {
    Trials.run(
        "clock steps",
        40,
        random -> {
          List<Reading> readings = new ArrayList<>();
          long now = START;
          for (int i = 0; i < 60; i++) {
            long step = random.nextLong(WINDOW / 4);
            now += random.nextInt(4) == 0 ? random.nextLong(-HOUR, HOUR / 2) : step;
            readings.add(new Reading(now / 1_000 * 1_000, 1 + random.nextInt(3)));
          }
          return new Trials.Trial<>("5 per 4 s, exactly", readings, this::check);
        });
  }

  /** Checks that no window holds more than the limit, by the latest time the clock ever showed. */
  private void check(List<Reading> readings) {
    Binding binding =
        binding("trial " + readings.hashCode() + readings.size(), Algorithm.SLIDING_WINDOW);
    long latest = Long.MIN_VALUE;
    long held = 0;
    Deque<Reading> admitted = new ArrayDeque<>();
    for (Reading each : readings) {
      latest = Math.max(latest, each.nanos());
      if (decide(binding, each.permits(), each.nanos()).allowed()) {
        admitted.add(new Reading(latest, each.permits()));
        held += each.permits();
      }
      while (!admitted.isEmpty() && admitted.element().nanos() <= latest - WINDOW) {
        held -= admitted.remove().permits();
      }
      assertThat(held).as("within the window before " + latest).isLessThanOrEqualTo(PERMITS);
    }
  }
}
