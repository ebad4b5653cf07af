package dev.weir.adaptive;

/** The steps of {@link AdaptiveAlgorithm#GRADIENT}. */
final class Gradient {
  /*
   * The latency of a window is compared with an average over hundreds of windows: while they are
   * alike, the backend has no growing queue. The gradient is tolerance * long / short, at most 1
   * and at least 1/2, so that one slow window does not end the use of a backend. The limit becomes
   *
   *     limit * gradient + queue
   *
   * smoothed: a fifth of the way is gone in each step. The queue is the room for growth, the square
   * root of the limit. So the limit rests where the latency is a little above the tolerance: at 1.5
   * to some 2.2 times the capacity by default, most of all where the capacity is small.
   *
   * If the long average is above twice the short one, load has passed, and the average is brought
   * down by a twentieth in each window, to be right sooner. [Netflix concurrency-limits,
   * Gradient2Limit, 2018]
   *
   * Under load that never ends, the average follows the queue, and the limit after it. So it is set
   * anew by a measurement without a queue (AdaptiveSearch).
   */

  /** The windows of the long average; the weight of a new one is 2 of so many and one. */
  private static final int LONG_WINDOWS = 600;

  /** The first windows, of which the long average is the plain one. */
  private static final int FIRST_WINDOWS = 10;

  private static final double LEAST = 0.5;
  private static final double SMOOTHING = 0.2;
  private static final double LEAST_QUEUE = 4;

  /** The quotient of long and short from which on the long average is brought down. */
  private static final double PASSED = 2;

  private static final double DECAY = 0.95;

  private Gradient() {}

  static Estimate step(Estimate before, LatencyWindow window, double tolerance, Bounds bounds) {
    double latency = window.latencyNanos();
    double base = longAverage(before, latency);
    if (base > PASSED * latency) {
      base *= DECAY;
    }
    int learnt = Math.min(FIRST_WINDOWS, before.learnt() + 1);
    double limit = before.limit();
    double wanted = limit * gradient(base, latency, tolerance) + queue(limit);
    double next = bounds.clamp(limit * (1 - SMOOTHING) + wanted * SMOOTHING);
    return new Estimate(next, base, learnt, before.start(), before.rest());
  }

  /** Returns the state after the latency was measured without a queue. */
  static Estimate measured(Estimate before, double latencyNanos) {
    return new Estimate(before.limit(), latencyNanos, FIRST_WINDOWS, before.start(), before.rest());
  }

  private static double longAverage(Estimate before, double latency) {
    double weight =
        before.learnt() < FIRST_WINDOWS ? 1.0 / (before.learnt() + 1) : 2.0 / (LONG_WINDOWS + 1);
    return before.baseNanos() + weight * (latency - before.baseNanos());
  }

  static double gradient(double base, double latency, double tolerance) {
    return Math.max(LEAST, Math.min(1, tolerance * base / latency));
  }

  static double queue(double limit) {
    return Math.max(LEAST_QUEUE, Math.sqrt(limit));
  }
}
