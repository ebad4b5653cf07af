package dev.weir;

/** The result of the renewal of a seat, see {@link Store#renew}. */
public enum Renewal {
  /** The seat was still held, and counts for another window from now on. */
  RENEWED,

  /** The seat is not held any more: it was given back, or not renewed in time. */
  LOST,

  /**
   * The store has not answered: the seat counts until its old end at least, and may have been
   * renewed.
   */
  UNANSWERED;

  static Renewal of(boolean renewed) {
    return renewed ? RENEWED : LOST;
  }
}
