package dev.weir.rules;

/** The way in which a rule takes the costs of requests. */
public enum CostMode {
  /** The cost is known before: a request whose permits do not fit is refused, and not charged. */
  BEFORE,
  /**
   * The cost is known afterwards. A request for 0 permits is a question, which is refused where
   * nothing is left. One for more is a report: it is counted whatever is left, and answered as over
   * the limit from then on. What is beyond the limit is a debt.
   */
  REPORTED,
  /**
   * The most that a request may cost is charged before, and the difference afterwards. A request
   * for n permits is decided as {@link #BEFORE}: it holds them. One that gives back and takes
   * permits of the same entries settles: the two are one change, and what is taken more is counted
   * whatever is left.
   */
  HELD
}
