package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Windows that are aligned to a calendar, which is stepped ahead of the clock. */
class CalendarTest {
  private static final long WINDOW = 1_000_000;
  private static final long LIMIT = 10;

  private static Policy policy(Algorithm algorithm) {
    return Policy.builder(new Quota(LIMIT, WINDOW)).algorithm(algorithm).build();
  }

  @Test
  void steps_countFromTheirInstantOn() {
    Calendar calendar = new Calendar();
    assertThat(calendar.step(100, 1_000)).isTrue();
    assertThat(calendar.step(200, 5_000)).isTrue();

    assertThat(List.of(calendar.of(99), calendar.of(100), calendar.of(199), calendar.of(200)))
        .containsExactly(99L, 1_100L, 1_199L, 5_200L);
    assertThat(List.of(calendar.first(99), calendar.first(500), calendar.first(1_150)))
        .containsExactly(99L, 100L, 150L);
    assertThat(List.of(calendar.first(1_200), calendar.first(5_200), calendar.first(5_207)))
        .containsExactly(200L, 200L, 207L);
  }

  @Test
  void stepBack_isNotTaken() {
    Calendar calendar = new Calendar();
    assertThat(calendar.step(100, 1_000)).isTrue();
    assertThat(calendar.step(200, 1_000)).isFalse();
    assertThat(calendar.step(200, -1)).isFalse();
    assertThat(calendar.step(100, 2_000)).isFalse();
    assertThat(calendar.offsetNanos()).isEqualTo(1_000);
  }

  @Test
  void moreStepsThanAreKept_takeTheEarliestTogether_andStillRise() {
    Calendar calendar = new Calendar();
    for (int i = 1; i <= 3 * Calendar.MOST_STEPS; i++) {
      assertThat(calendar.step(100L * i, 7L * i)).isTrue();
    }
    assertThat(calendar.write()[0]).isEqualTo(Calendar.MOST_STEPS);
    for (long at = -1_000; at < 300L * Calendar.MOST_STEPS + 500; at++) {
      assertThat(calendar.of(at)).isGreaterThan(calendar.of(at - 1));
      assertThat(calendar.first(calendar.of(at))).isEqualTo(at);
    }
  }

  @Test
  void offsetThatLeavesTheHorizon_isRefused() {
    assertThatThrownBy(() -> new MemoryStore().stepCalendar(Ticker.HORIZON_NANOS, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("offsetNanos: ");
  }

  /** An oracle that counts by the number of the calendar's window at the time of each decision. */
  private static final class Oracle {
    final Map<Long, Map<Long, Long>> counts = new HashMap<>();

    long estimate(Algorithm algorithm, long key, long shown) {
      Map<Long, Long> known = counts.getOrDefault(key, Map.of());
      long index = Math.floorDiv(shown, WINDOW);
      long now = known.getOrDefault(index, 0L);
      if (algorithm == Algorithm.FIXED_WINDOW) {
        return now;
      }
      long before = known.getOrDefault(index - 1, 0L);
      long left = WINDOW - (shown - index * WINDOW);
      return now + (before * left + WINDOW - 1) / WINDOW;
    }

    void charge(long key, long shown, long permits) {
      counts
          .computeIfAbsent(key, each -> new HashMap<>())
          .merge(Math.floorDiv(shown, WINDOW), permits, Long::sum);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW_COUNTER"})
  void decisions_areTheOracles_afterStepsImagesAndMoves(Algorithm algorithm) throws IOException {
    SplittableRandom random = Seed.random("CalendarTest, steps, " + algorithm, 1);
    Policy policy = policy(algorithm);
    MemoryStore store = MemoryStore.unbounded(Fingerprint.seeded(1, 2));
    Binding binding = store.bind("rule", policy, 0);
    Oracle oracle = new Oracle();
    long now = random.nextLong(10 * WINDOW);
    long offset = 0;
    int admitted = 0;
    for (int i = 0; i < 8_000; i++) {
      now += 1 + random.nextLong(random.nextInt(50) == 0 ? 3 * WINDOW : WINDOW / 10);
      int what = random.nextInt(200);
      if (what < 4) {
        offset += 1 + random.nextLong(what == 0 ? 3 * WINDOW : WINDOW / 5);
        assertThat(store.stepCalendar(offset, now)).isTrue();
        now++;
      } else if (what == 4) {
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        store.save(image);
        byte[] bytes = image.toByteArray();
        store = MemoryStore.resumed(new ByteArrayInputStream(bytes), 1_000, 1_000_000);
        binding = store.rebound("rule", policy);
      } else if (what == 5) {
        // To a store with another clock, whose calendar shows the same instant.
        long shown = now + offset;
        byte[] lifted = store.lift(0, -1, now);
        now = random.nextLong(10 * WINDOW);
        offset = shown - now;
        store = MemoryStore.unbounded(Fingerprint.seeded(1, 2));
        if (offset <= 0) {
          now += offset;
          offset = 0;
        } else {
          assertThat(store.stepCalendar(offset, now - 1)).isTrue();
        }
        store.lay(lifted, now);
        binding = store.bind("rule", policy, now);
      }
      long key = 1 + random.nextLong(3);
      long permits = random.nextLong(5);
      long shown = now + offset;
      long used = oracle.estimate(algorithm, key, shown);
      Charges one = new Charges().add(binding, key, permits);
      store.decide(one, now);
      String row =
          "seed " + Seed.SEED + " step " + i + " at " + now + " + " + offset + ": " + used
              + " used, " + permits + " more, " + what;
      assertThat(one.allowed()).as(row).isEqualTo(permits == 0 || used + permits <= LIMIT);
      if (one.allowed()) {
        oracle.charge(key, shown, permits);
        used = oracle.estimate(algorithm, key, shown);
        admitted += permits > 0 ? 1 : 0;
      } else {
        long then = shown + one.retryAfterNanos(0);
        assertThat(oracle.estimate(algorithm, key, then) + permits)
            .as(row)
            .isLessThanOrEqualTo(LIMIT);
        assertThat(oracle.estimate(algorithm, key, then - 1) + permits)
            .as(row)
            .isGreaterThan(LIMIT);
      }
      assertThat(one.remaining(0)).as(row).isEqualTo(Math.max(0, LIMIT - used));
      if (random.nextInt(20) == 0) {
        store.expire(now);
      }
    }
    store.verify();
    assertThat(admitted).isGreaterThan(1_000);
  }

  @ParameterizedTest
  @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW_COUNTER"})
  void oneStep_admitsAtMostTwoWindowsMore(Algorithm algorithm) {
    int runs = 600;
    SplittableRandom random = Seed.random("CalendarTest, one step, " + algorithm, runs);
    long[] worst = new long[4];
    for (int run = 0; run < runs; run++) {
      MemoryStore store = new MemoryStore();
      Binding binding = store.bind("rule", policy(algorithm), 0);
      int windows = random.nextInt(4); // The length of the step, rounded up.
      long step = windows == 0 ? 0 : (windows - 1) * WINDOW + 1 + random.nextLong(WINDOW);
      long stepAt = WINDOW + random.nextLong(2 * WINDOW);
      Deque<Long> inWindow = new ArrayDeque<>();
      List<Long> times = new ArrayList<>();
      long begin = random.nextLong(2 * WINDOW); // Spending late in a window spends more in all.
      for (long at = begin; at < 5 * WINDOW; at += 1 + random.nextLong(WINDOW / 50)) {
        times.add(at);
      }
      boolean stepped = step == 0;
      for (long at : times) {
        if (!stepped && at >= stepAt) {
          assertThat(store.stepCalendar(step, at - 1)).isTrue();
          stepped = true;
        }
        for (int i = 0; i < LIMIT; i++) {
          if (PackedDecision.allowed(store.decide(binding, 7, 1, at))) {
            inWindow.add(at);
          }
        }
        while (!inWindow.isEmpty() && inWindow.peek() <= at - WINDOW) {
          inWindow.remove();
        }
        worst[windows] = Math.max(worst[windows], inWindow.size());
        assertThat(inWindow.size())
            .as("seed %d run %d step %d at %d", Seed.SEED, run, step, at)
            .isLessThanOrEqualTo((int) ((2 + Math.min(2, windows)) * LIMIT));
      }
    }
    System.out.println("CalendarTest: " + algorithm + " " + Arrays.toString(worst));
    if (algorithm == Algorithm.FIXED_WINDOW) {
      assertThat(worst[1]).as("the step shows").isGreaterThan(2 * LIMIT);
      assertThat(worst[2]).as("the step shows").isGreaterThan(3 * LIMIT);
    }
  }
}
