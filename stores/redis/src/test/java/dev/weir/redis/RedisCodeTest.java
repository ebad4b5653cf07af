package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RedisCodeTest {
  private static long[] numbers(Policy.Builder policy) {
    return RedisCode.numbers(policy.build());
  }

  private static Policy.Builder policy(Algorithm algorithm, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos)).algorithm(algorithm);
  }

  @Test
  void log_isToldWindowAndGranule_roundedUpToMicroseconds() {
    // 4 * (3 + 2) granules take five bits and a mark; of 1 µs each, 24 bits.
    assertThat(
            numbers(
                policy(Algorithm.SLIDING_WINDOW_BUCKETS, 10, 3_000_001)
                    .granularity(Duration.ofNanos(1_000_001))))
        .containsExactly(1, 3_001, 1_001, 1, 10, 10, 0, 0);
    assertThat(numbers(policy(Algorithm.SLIDING_WINDOW_LOG, 10, 1_000_000_000)))
        .containsExactly(1, 1_000_000, 1, 3, 10, 10, 0, 0);
  }

  @Test
  void slidingWindow_isExactUpToTheLogsLimit_andInGranulesBeyond() {
    assertThat(numbers(policy(Algorithm.SLIDING_WINDOW, 128, 32_000_000))[2]).isEqualTo(1);
    assertThat(numbers(policy(Algorithm.SLIDING_WINDOW, 129, 32_000_000))[2]).isEqualTo(1_000);
  }

  @Test
  void counterAndFixedWindow_areToldTheirWindow() {
    assertThat(numbers(policy(Algorithm.SLIDING_WINDOW_COUNTER, 10, 1_000_001)))
        .containsExactly(2, 1_001, 0, 0, 10, 10, 0, 0);
    assertThat(numbers(policy(Algorithm.FIXED_WINDOW, 10, 1_000_000)))
        .containsExactly(3, 1_000, 0, 0, 10, 10, 0, 0);
  }

  @Test
  void seats_areToldTheirHold() {
    assertThat(numbers(Policy.concurrency(Policy.MOST_SEATS, Duration.ofNanos(1_000_001))))
        .containsExactly(8, 1_001, 0, 0, 65_536, 65_536, 0, 0);
    assertThat(numbers(Policy.concurrency(1, Duration.ofNanos(Quota.MAX_WINDOW_NANOS)))[1])
        .isLessThan(1L << 53);
  }

  @Test
  void bucket_isToldItsEmissionInNanoseconds_roundedUp() {
    assertThat(numbers(policy(Algorithm.TOKEN_BUCKET, 3, 1_000_000_000)))
        .containsExactly(4, 1_000_000, 0, 0, 3, 3, 333_333_334, 1_000_000_002);
    assertThat(numbers(policy(Algorithm.LEAKY_BUCKET, 3, 1_000_000_000).burst(5)))
        .containsExactly(5, 1_000_000, 333_333_334, 5, 3, 5, 333_333_334, 1_666_666_670);
    assertThat(numbers(policy(Algorithm.TOKEN_BUCKET, 0, 1_000_000_000)))
        .containsExactly(4, 1_000_000, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void bucketWorthMoreThanDoublesCanTell_isCountedInMicroseconds() {
    long most = 1L << 52;
    assertThat(numbers(policy(Algorithm.TOKEN_BUCKET, 1, most)))
        .containsExactly(4, most / 1_000 + 1, 0, 0, 1, 1, most, most);
    assertThat(numbers(policy(Algorithm.TOKEN_BUCKET, 1, most + 1)))
        .containsExactly(6, most / 1_000 + 1, 0, 0, 1, 1, most / 1_000 + 1, most / 1_000 + 1);
    // The same holds for a short window with a large burst.
    long emission = 1L << 22;
    assertThat(numbers(policy(Algorithm.LEAKY_BUCKET, 1, emission).burst(1L << 30)))
        .containsExactly(5, 4_195, emission, 1 << 30, 1, 1 << 30, emission, most);
    assertThat(numbers(policy(Algorithm.LEAKY_BUCKET, 1, emission).burst((1L << 30) + 1)))
        .containsExactly(
            7, 4_195, 4_195, (1 << 30) + 1, 1, (1 << 30) + 1, 4_195, 4_195L * ((1 << 30) + 1));
  }

  @Test
  void allThatTheScriptIsTold_isExactInDoubles() {
    for (Algorithm algorithm : Algorithm.rates()) {
      for (long permits : new long[] {0, 1, Quota.MAX_PERMITS}) {
        for (long window : new long[] {Quota.MIN_WINDOW_NANOS, 1L << 50, Quota.MAX_WINDOW_NANOS}) {
          for (Consistency consistency : Consistency.values()) {
            assertThat(
                    numbers(
                        policy(algorithm, permits, window)
                            .sharing(Sharing.STRICT.consistency(consistency))))
                .as("%s, %d per %d ns", algorithm, permits, window)
                .matches(
                    numbers ->
                        java.util.Arrays.stream(numbers).allMatch(n -> n >= 0 && n <= 1L << 53));
          }
        }
      }
    }
  }

  @Test
  void leasedWindow_isLongerByTheSyncInterval_unlessItIsAligned() {
    for (Algorithm algorithm : Algorithm.rates()) {
      Policy.Builder leased =
          policy(algorithm, 10, 1_000_000_000)
              .sharing(
                  Sharing.STRICT
                      .consistency(Consistency.LEASED)
                      .syncInterval(Duration.ofMillis(200)));
      boolean aligned =
          algorithm == Algorithm.FIXED_WINDOW || algorithm == Algorithm.SLIDING_WINDOW_COUNTER;

      assertThat(numbers(leased)[1])
          .as(algorithm.name())
          .isEqualTo(aligned ? 1_000_000 : 1_200_000);
    }
  }

  @Test
  void leasedBucket_refillsOverTheLongerWindow() {
    Policy.Builder leased =
        policy(Algorithm.TOKEN_BUCKET, 10, 1_000_000_000)
            .sharing(
                Sharing.STRICT
                    .consistency(Consistency.LEASED)
                    .syncInterval(Duration.ofMillis(200)));

    assertThat(numbers(leased))
        .containsExactly(4, 1_200_000, 0, 0, 10, 10, 120_000_000, 1_200_000_000);
  }

  @Test
  void keys_differByPrefixNameAndFingerprint() {
    Policy policy = Policy.of(Quota.perSecond(1));
    Set<String> keys = new HashSet<>();
    for (String prefix : new String[] {"weir", "other"}) {
      for (String name : new String[] {"a", "b", "name"}) {
        for (long fingerprint : new long[] {0, 1, -1}) {
          byte[] key = new RedisCode(prefix, name, policy).key(fingerprint);
          String text = new String(key, StandardCharsets.UTF_8);
          assertThat(text).startsWith(prefix + ":").hasSize(prefix.length() + 1 + 22);
          keys.add(text);
        }
      }
    }

    assertThat(keys).hasSize(2 * 3 * 3);
  }
}
