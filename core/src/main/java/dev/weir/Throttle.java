package dev.weir;

import java.util.Locale;

/**
 * The strictness with which a policy enforces its quota of N permits per window. Immutable and safe
 * to share.
 *
 * <ul>
 *   <li>{@link #HARD}: never more than N.
 *   <li>{@link #soft}: permits beyond N are tolerated up to a stated share of it, and their reason
 *       is {@link Reason#TOLERATED}. The bound is as strict: 500 with 5 % is never more than 525.
 *   <li>{@link #elastic}: no request is refused while a {@link LoadSignal} is below a threshold;
 *       from it on, and if the load is not known, only permits that fit N are admitted. So there is
 *       no bound while the system is idle, and the hard one under load: permits that were admitted
 *       beyond N in idle times are not charged, and at most N of a window's permits are admitted
 *       under load.
 * </ul>
 *
 * <p>A {@link RateLimiter} does all of this. A program that uses a {@link Store} itself does three
 * things: it {@linkplain Store#bind binds} {@link Policy#enforced}, which counts tolerated permits
 * as well; it charges an elastic policy that has {@linkplain #spare spare} capacity as {@link
 * Charges.Role#OPTIONAL}; and it reads the store's decision by {@link Policy#throttled}.
 */
public final class Throttle {
  /** The throttle that never admits more than the quota. */
  public static final Throttle HARD = new Throttle(0, 0);

  private static final long WHOLE = 1_000_000;

  /** The most by which a double differs from the millionths that it stands for. */
  private static final double ROUNDING = 1e-6;

  /** The tolerated share in millionths of the quota: whole numbers, so that bounds are exact. */
  private final long tolerance;

  /** The load from which on an elastic policy is hard; 0 for a policy that always is. */
  private final double threshold;

  private Throttle(long tolerance, double threshold) {
    this.tolerance = tolerance;
    this.threshold = threshold;
  }

  /**
   * Returns a throttle that tolerates a share of the quota beyond it, rounded down to whole
   * permits.
   *
   * @param share of the quota, 0.000001 to 1, in whole millionths: 0.05 is 5 %
   * @throws IllegalArgumentException if it is out of its range, or finer
   */
  public static Throttle soft(double share) {
    long millionths = Math.round(share * WHOLE);
    boolean whole = Math.abs(share * WHOLE - millionths) < ROUNDING;
    if (!(share <= 1) || millionths < 1 || !whole) {
      throw new IllegalArgumentException(
          "soft: " + share + " (expected: 0.000001..1, in whole millionths)");
    }
    return new Throttle(millionths, 0);
  }

  /**
   * Returns a throttle that refuses no request while the load is below a threshold.
   *
   * @param threshold above 0 and at most 1, where 1 is a system at full capacity
   * @throws IllegalArgumentException if it is out of its range
   */
  public static Throttle elastic(double threshold) {
    if (!(threshold > 0 && threshold <= 1)) {
      throw new IllegalArgumentException(
          "elastic: " + threshold + " (expected: above 0, at most 1)");
    }
    return new Throttle(0, threshold);
  }

  /** Returns how many permits beyond {@code permits} are tolerated whatever the load is. */
  public long tolerated(long permits) {
    return permits / WHOLE * tolerance + permits % WHOLE * tolerance / WHOLE;
  }

  /** Returns whether it never admits more than the quota. */
  public boolean isHard() {
    return tolerance == 0 && threshold == 0;
  }

  /** Returns whether the load matters. */
  public boolean isElastic() {
    return threshold > 0;
  }

  /** Returns the load from which on it is hard, above 0 to 1; 0 if that does not matter. */
  public double threshold() {
    return threshold;
  }

  /**
   * Returns whether there is so much spare capacity that every request is admitted. False for a
   * policy that is not {@link #isElastic}, and for a load that is not a number.
   *
   * @param load as a {@link LoadSignal} returns it
   */
  public boolean spare(double load) {
    return load < threshold;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Throttle throttle
        && tolerance == throttle.tolerance
        && threshold == throttle.threshold;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(tolerance) * 31 + Double.hashCode(threshold);
  }

  /** Returns {@code hard}, {@code soft 5%} or {@code elastic below 70%}. */
  @Override
  public String toString() {
    if (tolerance > 0) {
      return "soft " + percent((double) tolerance / WHOLE);
    }
    return isElastic() ? "elastic below " + percent(threshold) : "hard";
  }

  private static String percent(double share) {
    String text = String.format(Locale.ROOT, "%.4f", 100 * share);
    return text.replaceFirst("\\.?0+$", "") + "%";
  }
}
