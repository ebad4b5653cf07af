package dev.weir.traffic;

import java.util.SplittableRandom;

/**
 * A source of ranks by Zipf's law: rank k comes as often as {@code 1 / k^s}. It needs no memory,
 * for any number of ranks: it uses rejection-inversion [Hörmann, Derflinger 1996] under the hat
 * {@code 1 / x^s}.
 *
 * <p>It computes by {@link StrictMath}, so a seed gives the same draws on every machine. Immutable.
 */
public final class Zipf {
  private final int ranks;
  private final double skew;
  private final double low;
  private final double high;
  private final double squeeze;

  /**
   * @param ranks the number of ranks, at least 1
   * @param skew the exponent, at least 0
   */
  public Zipf(int ranks, double skew) {
    this.ranks = ranks;
    this.skew = skew;
    this.low = area(1.5) - 1;
    this.high = area(ranks + 0.5);
    this.squeeze = 2 - inverse(area(2.5) - hat(2));
  }

  private double hat(double x) {
    return StrictMath.exp(-skew * StrictMath.log(x));
  }

  /** Returns the hat's integral. */
  private double area(double x) {
    double log = StrictMath.log(x);
    double power = (1 - skew) * log;
    return StrictMath.abs(power) < 1e-8 ? log : StrictMath.expm1(power) / (1 - skew);
  }

  private double inverse(double area) {
    double power = StrictMath.max(-1, area * (1 - skew));
    return StrictMath.exp(
        StrictMath.abs(power) < 1e-8 ? area : StrictMath.log1p(power) / (1 - skew));
  }

  /** Returns a rank from 1. */
  public int draw(SplittableRandom random) {
    while (true) {
      double area = high + random.nextDouble() * (low - high);
      double x = inverse(area);
      int rank = (int) Math.max(1, Math.min(ranks, (long) (x + 0.5)));
      if (rank - x <= squeeze || area >= area(rank + 0.5) - hat(rank)) {
        return rank;
      }
    }
  }
}
