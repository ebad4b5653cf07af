package dev.weir.config.rows;

import dev.weir.config.internal.bytes.Check;

/**
 * The decisions of a server since it was started.
 *
 * @param asked requests that rules applied to
 * @param refused of these
 */
public record Counts(long asked, long refused) {
  /** No decisions. */
  public static final Counts NONE = new Counts(0, 0);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public Counts {
    Check.range("asked", asked, 0, Long.MAX_VALUE);
    Check.range("refused", refused, 0, asked);
  }

  /**
   * Returns the decisions since an earlier count of the same server, which may have been restarted.
   */
  public Counts since(Counts earlier) {
    boolean anew = asked < earlier.asked || refused < earlier.refused;
    long more = asked - earlier.asked;
    return anew ? this : new Counts(more, Math.min(more, refused - earlier.refused));
  }

  public Counts plus(Counts other) {
    return new Counts(asked + other.asked, refused + other.refused);
  }

  /** Returns the share that was refused, in hundredths of a percent. */
  public double share() {
    return asked == 0 ? 0 : 10_000.0 * refused / asked;
  }
}
