package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Seed;
import java.math.BigInteger;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final int RUNS = 10_000;

  @Test
  void delays_doubleFromTheLeastToTheMost() {
    Backoff backoff = new Backoff(20, 500);

    assertThat(
            new long[] {
              backoff.longest(0),
              backoff.longest(1),
              backoff.longest(4),
              backoff.longest(5),
              backoff.longest(6),
              backoff.longest(Integer.MAX_VALUE)
            })
        .containsExactly(20, 40, 320, 500, 500, 500);
  }

  @Test
  void anyBounds_growByDoublingAndKeepJitterWithinHalf() {
    SplittableRandom random = Seed.random("backoff", RUNS);
    for (int run = 0; run < RUNS; run++) {
      long least = 1 + (random.nextLong(Long.MAX_VALUE) >>> random.nextInt(63));
      long most = Math.max(least, random.nextLong(Long.MAX_VALUE) >>> random.nextInt(63));
      Backoff backoff = new Backoff(least, most);
      int before = random.nextInt(random.nextBoolean() ? 70 : Integer.MAX_VALUE);
      BigInteger exact = BigInteger.valueOf(least).shiftLeft(Math.min(before, 70));

      long longest = backoff.longest(before);
      assertThat(longest)
          .as("%s after %d", backoff, before)
          .isEqualTo(exact.min(BigInteger.valueOf(most)).longValueExact());
      for (int i = 0; i < 10; i++) {
        assertThat(backoff.random(before, random))
            .as("%s after %d", backoff, before)
            .isGreaterThan(longest / 2)
            .isLessThanOrEqualTo(longest);
      }
    }
  }

  @Test
  void jitter_reachesAllDelaysOfItsRange() {
    Backoff backoff = new Backoff(5, 5);
    SplittableRandom random = new SplittableRandom(1);

    assertThat(random.longs(200).map(any -> backoff.random(0, random)).distinct().sorted())
        .containsExactly(3L, 4L, 5L);
    assertThat(new Backoff(1, 1).random(0, random)).isEqualTo(1);
  }

  @Test
  void wrongBounds_areRefused() {
    assertThatThrownBy(() -> new Backoff(0, 1))
        .hasMessage("backoff: 0..1 (expected: 1 <= least <= most)");
    assertThatThrownBy(() -> new Backoff(2, 1)).isInstanceOf(IllegalArgumentException.class);
  }
}
