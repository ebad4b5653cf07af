package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests of requests that lock their keys: several charges, and keys that several tables count. */
class SlowPathTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long HOUR = 3_600 * SECOND;

  private static Policy policy(Algorithm algorithm, long permits, Duration window) {
    return Policy.builder(Quota.of(permits, window)).name("p").algorithm(algorithm).build();
  }

  private static Charges decide(MemoryStore store, Charges charges, long now) {
    store.decide(charges, now);
    return charges;
  }

  private static boolean admits(MemoryStore store, Binding binding, long permits, long now) {
    return decide(store, new Charges().add(binding, 7, permits), now).allowed();
  }

  /** A request that finds room for one of its keys only must not keep that room. */
  @Test
  void roomForOneOfTwoKeys_isGivenBack() {
    MemoryStore store = new MemoryStore(2, 1 << 20);
    Quota quota = Quota.perMinute(5);
    Binding first = store.bind("first", Policy.of(quota), 0);
    Binding second = store.bind("second", Policy.of(quota), 0);
    assertThat(decide(store, new Charges().add(first, 1, 1), 0).allowed()).isTrue();
    for (int i = 0; i < 3; i++) {
      Charges both = decide(store, new Charges().add(first, 2, 1).add(second, 3, 1), 0);
      assertThat(both.allowed()).isFalse();
      assertThat(both.reason(1)).isEqualTo(Reason.KEY_SPACE_FULL);
    }
    assertThat(store.keys()).isEqualTo(1);
    assertThat(decide(store, new Charges().add(first, 4, 1), 0).allowed())
        .as("there is room for one more")
        .isTrue();
    assertThat(decide(store, new Charges().add(first, 5, 1), 0).allowed()).isFalse();
  }

  /** Of two tables that count a key, the one with the shorter window has not counted all. */
  @Test
  void shorterWindowInBetween_doesNotHideTheLongerOne() {
    for (Algorithm last : Algorithm.values()) {
      MemoryStore store = new MemoryStore();
      Duration hour = Duration.ofHours(1);
      Algorithm first =
          last == Algorithm.SLIDING_WINDOW_LOG
              ? Algorithm.SLIDING_WINDOW_BUCKETS
              : Algorithm.SLIDING_WINDOW_LOG;
      Binding longer = store.bind("p", policy(first, 10, hour), 0);
      assertThat(admits(store, longer, 10, 0)).isTrue();
      long later = HOUR / 12;
      Binding shorter =
          store.bind("p", policy(Algorithm.SLIDING_WINDOW_LOG, 100, Duration.ofMinutes(1)), later);
      assertThat(admits(store, shorter, 1, later)).isTrue();
      Binding again = store.bind("p", policy(last, 10, hour), later + SECOND);
      assertThat(admits(store, again, 1, later + SECOND)).as("%s", last).isFalse();
    }
  }
}
