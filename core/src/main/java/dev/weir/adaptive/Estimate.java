package dev.weir.adaptive;

/**
 * The state of an algorithm between two windows.
 *
 * @param limit the limit with its fraction; whole permits are given out
 * @param baseNanos the latency to compare with: the long average of {@link Gradient}, the latency
 *     without a queue of {@link Vegas}; 0 until it is known
 * @param learnt the windows that the long average has learnt, while they are few
 * @param start true while {@link Vegas} doubles the limit
 * @param rest true if {@link Vegas} has doubled the limit after the last window
 */
record Estimate(double limit, double baseNanos, int learnt, boolean start, boolean rest) {
  static Estimate first(int limit) {
    return new Estimate(limit, 0, 0, true, false);
  }

  /** Returns the whole permits of the limit, rounded down. */
  int permits() {
    return (int) limit;
  }

  Estimate withLimit(double newLimit) {
    return new Estimate(newLimit, baseNanos, learnt, start, rest);
  }

  Estimate withBase(double newBaseNanos) {
    return new Estimate(limit, newBaseNanos, learnt, start, rest);
  }

  /** Returns whether a window has used half of the limit or more; one that has not says nothing. */
  boolean isUsedBy(LatencyWindow window) {
    return 2L * window.mostOut() >= permits();
  }
}
