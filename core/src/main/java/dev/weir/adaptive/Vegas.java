package dev.weir.adaptive;

/** The steps of {@link AdaptiveAlgorithm#VEGAS}. */
final class Vegas {
  /*
   * With L requests in flight and a latency of B without a queue, L / B requests a second would be
   * served; with the latency of now, L / R are. The difference, times B, is the number of requests
   * that are in the queue and not in service:
   *
   *     queue = L * (1 - B / R)
   *
   * TCP Vegas holds it between alpha and beta segments by steps of one. Here a step is the logarithm
   * of the limit to the base 10, at least 1, with alpha of 3 and beta of 6 steps: latencies of more
   * requests vary by more of them, and a limit of thousands moves faster. Until a queue of one step
   * is seen for the first time, the limit is doubled in every other window: a window between shows
   * what the last one did. [Brakmo and Peterson 1995, sections 3.2 and 3.3]
   */

  private static final double ALPHA = 3;
  private static final double BETA = 6;
  private static final double GAMMA = 1;

  private Vegas() {}

  static Estimate step(Estimate before, LatencyWindow window, Bounds bounds) {
    double latency = window.latencyNanos();
    double base = before.baseNanos() == 0 ? latency : Math.min(before.baseNanos(), latency);
    double limit = before.limit();
    double step = Math.max(1, Math.log10(limit));
    double queue = queue(limit, base, latency);
    boolean start = before.start() && queue < GAMMA * step;
    boolean doubles = start && !before.rest();
    double next;
    if (start) {
      next = doubles ? 2 * limit : limit;
    } else {
      next = queue < ALPHA * step ? limit + step : queue > BETA * step ? limit - step : limit;
    }
    return new Estimate(bounds.clamp(next), base, before.learnt(), start, doubles);
  }

  /** Returns the requests that are in the backend's queue. */
  static double queue(double limit, double base, double latency) {
    return latency <= 0 ? 0 : Math.max(0, limit * (1 - base / latency));
  }
}
