package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Trials;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Refunds by number alone, of the newest charges of a key. */
class RefundNewestTest {
  private static final long WINDOW = 1_000_000_000L;
  private static final long LIMIT = 10;
  private static final long KEY = 7;
  private static final int ROUNDS = 300;
  private static final int STEPS = 60;

  /** Permits that came or went at an instant; those given back are negative. */
  private record Change(long atNanos, long permits) {}

  private static Policy policy(Algorithm algorithm, long limit) {
    return Policy.builder(new Quota(limit, WINDOW)).name("p").algorithm(algorithm).build();
  }

  private static boolean charge(MemoryStore store, Binding binding, long permits, long now) {
    return store.decide(binding, KEY, permits, now) >= 0;
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void refundOfSeveralCharges_givesBackWhatIsChargedAndNoMore(Algorithm algorithm) {
    try (MemoryStore store = new MemoryStore()) {
      Binding binding = store.bind("p", policy(algorithm, LIMIT), 0);
      assertThat(store.refundNewest(binding, KEY, 5, 0)).isZero();
      for (int i = 0; i < 5; i++) {
        assertThat(charge(store, binding, 2, 0)).isTrue();
      }
      assertThat(charge(store, binding, 1, 0)).isFalse();
      assertThat(store.refundNewest(binding, KEY, 3, 0)).isEqualTo(3);
      assertThat(charge(store, binding, 4, 0)).isFalse();
      assertThat(charge(store, binding, 3, 0)).isTrue();
      assertThat(store.refundNewest(binding, KEY, Long.MAX_VALUE, 0)).isEqualTo(LIMIT);
      assertThat(charge(store, binding, LIMIT, 0)).isTrue();
      assertThat(charge(store, binding, 1, 0)).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void refundAfterTheWindow_givesNothingBack(Algorithm algorithm) {
    try (MemoryStore store = new MemoryStore()) {
      Binding binding = store.bind("p", policy(algorithm, LIMIT), 0);
      assertThat(charge(store, binding, 4, 0)).isTrue();
      assertThat(store.refundNewest(binding, KEY, 4, 3 * WINDOW)).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void randomRefunds_leaveNoWindowBeyondTheLimitAndWhatWasGivenBack(Algorithm algorithm) {
    SplittableRandom seeds = Trials.random("refunds by number, " + algorithm, ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
      long seed = seeds.nextLong();
      SplittableRandom random = new SplittableRandom(seed);
      List<Change> history = new ArrayList<>();
      try (MemoryStore store = new MemoryStore()) {
        Binding binding = store.bind("p", policy(algorithm, LIMIT), 0);
        long now = 0;
        for (int step = 0; step < STEPS; step++) {
          now += random.nextInt(4) == 0 ? random.nextLong(WINDOW) : random.nextLong(WINDOW / 20);
          long permits = 1L + random.nextInt(6);
          if (random.nextInt(3) > 0) {
            if (charge(store, binding, permits, now)) {
              history.add(new Change(now, permits));
            }
          } else {
            history.add(new Change(now, -store.refundNewest(binding, KEY, permits, now)));
          }
        }
      }
      assertThat(fullest(history, algorithm == Algorithm.FIXED_WINDOW))
          .as("%s, seed %d, %s", algorithm, seed, history)
          .isLessThanOrEqualTo(bound(algorithm));
    }
  }

  /** Returns the most permits that any window holds beyond those given back in it. */
  private static long fullest(List<Change> history, boolean aligned) {
    long most = 0;
    for (int from = 0; from < history.size(); from++) {
      long start = history.get(from).atNanos();
      long end = aligned ? (start / WINDOW + 1) * WINDOW : start + WINDOW;
      long net = 0;
      for (int i = from; i < history.size() && history.get(i).atNanos() < end; i++) {
        net += history.get(i).permits();
        most = Math.max(most, net);
      }
    }
    return most;
  }

  /** A bucket is full once and refills once in a window; a counter takes its past as even. */
  private static long bound(Algorithm algorithm) {
    return switch (algorithm) {
      case TOKEN_BUCKET, LEAKY_BUCKET, SLIDING_WINDOW_COUNTER -> 2 * LIMIT;
      default -> LIMIT;
    };
  }

  @Test
  void refundOfALog_takesTheNewestChargesFirst() {
    SplittableRandom seeds = Trials.random("newest charges first", ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
      long seed = seeds.nextLong();
      SplittableRandom random = new SplittableRandom(seed);
      Deque<Change> counted = new ArrayDeque<>();
      try (MemoryStore store = new MemoryStore()) {
        Binding binding = store.bind("p", policy(Algorithm.SLIDING_WINDOW_LOG, LIMIT), 0);
        long now = 0;
        for (int step = 0; step < STEPS; step++) {
          now += 1 + random.nextLong(WINDOW / 5);
          long oldest = now - WINDOW;
          counted.removeIf(each -> each.atNanos() <= oldest);
          long used = counted.stream().mapToLong(Change::permits).sum();
          long permits = 1L + random.nextInt(5);
          String about = "seed " + seed + ", step " + step;
          if (random.nextInt(3) > 0) {
            boolean fits = used + permits <= LIMIT;
            assertThat(charge(store, binding, permits, now)).as(about).isEqualTo(fits);
            if (fits) {
              counted.addLast(new Change(now, permits));
            }
          } else {
            long given = Math.min(permits, used);
            assertThat(store.refundNewest(binding, KEY, permits, now)).as(about).isEqualTo(given);
            takeNewest(counted, given);
          }
        }
      }
    }
  }

  private static void takeNewest(Deque<Change> counted, long permits) {
    for (long rest = permits; rest > 0; ) {
      Change newest = counted.removeLast();
      if (newest.permits() > rest) {
        counted.addLast(new Change(newest.atNanos(), newest.permits() - rest));
      }
      rest -= newest.permits();
    }
  }

  @Test
  void refundUnderALoweredLimit_freesNoMoreThanWasChargedUnderTheLargerOne() {
    try (MemoryStore store = new MemoryStore()) {
      Binding large = store.bind("p", policy(Algorithm.TOKEN_BUCKET, 100), 0);
      assertThat(charge(store, large, 100, 0)).isTrue();
      Binding small = store.bind("p", policy(Algorithm.TOKEN_BUCKET, 10), 0);
      assertThat(store.refundNewest(small, KEY, 10, 0)).isEqualTo(10);
      Binding again = store.bind("p", policy(Algorithm.TOKEN_BUCKET, 100), 0);
      assertThat(charge(store, again, 11, 0)).isFalse();
      assertThat(charge(store, again, 10, 0)).isTrue();
    }
  }
}
