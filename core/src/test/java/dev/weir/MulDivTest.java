package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MulDivTest {
  private static void check(long a, long b, long c) {
    BigInteger product = BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
    BigInteger[] parts = product.divideAndRemainder(BigInteger.valueOf(c));
    if (parts[0].bitLength() < 63) {
      long floor = parts[0].longValueExact();
      assertThat(MulDiv.floor(a, b, c)).as("%d * %d / %d", a, b, c).isEqualTo(floor);
      assertThat(MulDiv.ceil(a, b, c)).isEqualTo(floor + parts[1].signum());
    }
  }

  @Test
  void edges_areExact() {
    long[] counts = {0, 1, 2, 127, 128, 129, (1L << 32) - 1, 1L << 40, (1L << 41) - 1, 1L << 41};
    long[] times = {1, 2, 1_000_000, Quota.MAX_WINDOW_NANOS - 1, Quota.MAX_WINDOW_NANOS, 1L << 55};
    for (long a : counts) {
      for (long b : times) {
        check(a, 0, b);
        for (long c : times) {
          check(a, b, c);
        }
      }
    }
  }

  @Test
  void randomOperands_agreeWithBigInteger() {
    int runs = 200_000;
    SplittableRandom random = Seed.random("MulDivTest", runs);
    for (int i = 0; i < runs; i++) {
      long a = random.nextLong(1L << random.nextInt(1, 42));
      long b = random.nextLong(1L << random.nextInt(1, 56));
      check(a, b, 1 + random.nextLong(1L << random.nextInt(1, 55)));
    }
  }
}
