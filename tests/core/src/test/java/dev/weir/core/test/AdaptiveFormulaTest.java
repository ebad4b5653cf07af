package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Limits after given windows of latencies, against numbers worked out by hand and against the
 * published formulas, which are written here once more in the terms of their sources.
 */
class AdaptiveFormulaTest {
  /** The successes that a window needs. */
  private static final int ENOUGH = 10;

  /** The windows before the first measurement, and between two. */
  private static final int FIRST = 10;

  private static final int NEXT = 100;

  private final FakeTicker ticker = new FakeTicker(1_000_000_000L);

  private AdaptiveLimiter limiter(AdaptiveAlgorithm algorithm) {
    return AdaptiveLimiter.builder()
        .algorithm(algorithm)
        .floor(10)
        .initial(20)
        .ceiling(5_000)
        .window(Duration.ofMillis(1))
        .ticker(ticker)
        .build();
  }

  /** Makes one window, in which the whole limit is in use and all latencies are alike. */
  private void window(AdaptiveLimiter limiter, double millis) {
    ticker.advance(Duration.ofMinutes(1)); // However long the window is, it is over then.
    List<AdaptivePermit> permits = new ArrayList<>();
    for (int i = limiter.limit(); i > 0; i--) {
      permits.add(limiter.tryAcquire());
    }
    assertThat(permits).allMatch(AdaptivePermit::granted);
    assertThat(limiter.tryAcquire().granted()).isFalse();
    ticker.advance((long) (millis * 1e6));
    for (int i = permits.size() - 1; i >= 0; i--) {
      boolean counts = i >= permits.size() - ENOUGH;
      assertThat(permits.get(i).end(counts ? RequestOutcome.SUCCEEDED : RequestOutcome.IGNORED))
          .isTrue();
    }
  }

  private void assertLimits(AdaptiveLimiter limiter, double[] millis, int[] limits) {
    for (int i = 0; i < millis.length; i++) {
      window(limiter, millis[i]);
      assertThat(limiter.limit()).as("after window " + (i + 1)).isEqualTo(limits[i]);
    }
  }

  /**
   * The limits are 20.894, 21.809 and 22.743 with a gradient of 1 and queues of 4.472, 4.571 and
   * 4.670. Then the mean is 32.5 ms and the gradient 0.4875, which counts as 0.5: 0.8 * 22.743 +
   * 0.2 * (0.5 * 22.743 + 4.769) = 21.422.
   */
  @Test
  void gradient_workedOutByHand_agrees() {
    assertLimits(
        limiter(AdaptiveAlgorithm.GRADIENT),
        new double[] {10, 10, 10, 100},
        new int[] {20, 21, 22, 21});
  }

  /**
   * Doubled in every other window; then 80 * (1 - 10 / 12.5) = 16 are in the queue, more than 6 *
   * 1.903, so it falls to 78.097. With 10.3 ms they are 2.27, fewer than 3 * 1.893: 79.990. With 11
   * ms they are 7.27, which is between.
   */
  @Test
  void vegas_workedOutByHand_agrees() {
    assertLimits(
        limiter(AdaptiveAlgorithm.VEGAS),
        new double[] {10, 10, 10, 12.5, 10.3, 11},
        new int[] {40, 40, 80, 78, 79, 79});
  }

  @Test
  void aimd_workedOutByHand_agrees() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.AIMD);
    assertLimits(limiter, new double[] {10, 1_000}, new int[] {21, 22});
    assertThat(limiter.tryAcquire().end(RequestOutcome.DROPPED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(19); // 19.8.
    assertLimits(limiter, new double[] {10}, new int[] {20}); // 20.8.
  }

  /** A published formula: the limit after each window. */
  private abstract static class Formula {
    double limit = 20;

    abstract void sample(double rtt);

    abstract void measured(double rtt);

    static double bounded(double value) {
      return value < 10 ? 10 : value > 5_000 ? 5_000 : value;
    }
  }

  /** Gradient2 in the names of Netflix's description, with a queue of the square root. */
  private static final class Gradient2 extends Formula {
    private double longRtt;
    private int count;

    @Override
    void sample(double shortRtt) {
      count++;
      if (count <= 10) {
        longRtt = (longRtt * (count - 1) + shortRtt) / count;
      } else {
        double factor = 2.0 / 601;
        longRtt = longRtt * (1 - factor) + shortRtt * factor;
      }
      if (longRtt / shortRtt > 2) {
        longRtt *= 0.95;
      }
      double gradient = 1.5 * longRtt / shortRtt;
      gradient = gradient > 1 ? 1 : gradient < 0.5 ? 0.5 : gradient;
      double queueSize = Math.max(4, Math.sqrt(limit));
      double newLimit = gradient * limit + queueSize;
      limit = bounded(0.8 * limit + 0.2 * newLimit);
    }

    @Override
    void measured(double rtt) {
      longRtt = rtt;
      count = 10;
    }
  }

  /** Vegas in the names of the paper: rates of windows of segments, and buffers. */
  private static final class TcpVegas extends Formula {
    private double baseRtt = Double.MAX_VALUE;
    private boolean slowStart = true;
    private boolean grow = true;

    @Override
    void sample(double rtt) {
      baseRtt = Math.min(baseRtt, rtt);
      double expected = limit / baseRtt;
      double actual = limit / rtt;
      double diff = (expected - actual) * baseRtt;
      double unit = limit < 10 ? 1 : Math.log(limit) / Math.log(10);
      if (slowStart && diff < unit) {
        limit = bounded(grow ? limit * 2 : limit);
        grow = !grow;
        return;
      }
      slowStart = false;
      if (diff < 3 * unit) {
        limit = bounded(limit + unit);
      } else if (diff > 6 * unit) {
        limit = bounded(limit - unit);
      }
    }

    @Override
    void measured(double rtt) {
      baseRtt = rtt;
    }
  }

  private static final class AdditiveIncrease extends Formula {
    @Override
    void sample(double rtt) {
      limit = bounded(limit + 1);
    }

    @Override
    void measured(double rtt) {
      throw new AssertionError("AIMD measures nothing");
    }
  }

  private static Formula formula(AdaptiveAlgorithm algorithm) {
    return switch (algorithm) {
      case GRADIENT -> new Gradient2();
      case VEGAS -> new TcpVegas();
      case AIMD -> new AdditiveIncrease();
    };
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void randomLatencies_agreeWithThePublishedFormula(AdaptiveAlgorithm algorithm) {
    int runs = 20;
    SplittableRandom random = Trials.random("formula of " + algorithm, runs);
    for (int run = 0; run < runs; run++) {
      AdaptiveLimiter limiter = limiter(algorithm);
      Formula formula = formula(algorithm);
      double usual = 1 + 50 * random.nextDouble();
      double spread = random.nextDouble();
      int untilMeasurement = FIRST;
      for (int i = 1; i <= 2 * NEXT; i++) {
        double millis = usual * (1 + spread * (random.nextDouble() - 0.5));
        if (random.nextInt(20) == 0) {
          usual *= random.nextBoolean() ? 2 : 0.5;
        }
        double nanos = Math.floor(millis * 1e6);
        window(limiter, millis);
        formula.sample(nanos);
        untilMeasurement--;
        if (untilMeasurement == 0 && algorithm != AdaptiveAlgorithm.AIMD) {
          assertThat(limiter.limit()).isEqualTo(Math.max(10, (int) (formula.limit + 1e-6) / 2));
          window(limiter, millis); // It has fallen no more, so this is the measured one.
          formula.measured(nanos);
          untilMeasurement = NEXT;
        }
        // The order of additions may differ in the last bit of a fraction.
        assertThat(limiter.limit())
            .as("window %d of run %d: %s", i, run, limiter.explain())
            .isBetween((int) (formula.limit - 1e-6), (int) (formula.limit + 1e-6));
      }
    }
  }
}
