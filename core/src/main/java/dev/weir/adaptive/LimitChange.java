package dev.weir.adaptive;

import java.util.Locale;

/**
 * A change of the limit, with its reason.
 *
 * @param cause the kind of reason
 * @param from the limit before
 * @param to the limit after
 * @param atNanos the instant
 * @param latencies the latencies at that instant
 * @param mostOut the most permits that were out in the window before; 0 if no window has ended
 */
record LimitChange(
    Cause cause, int from, int to, long atNanos, LatencyEstimate latencies, int mostOut) {
  /** The kinds of reasons. */
  enum Cause {
    FIRST,
    GRADIENT,
    VEGAS,
    AIMD,
    DROP,
    MEASURING,
    MEASURED
  }

  /** Returns the reason as a sentence. */
  String sentence() {
    return switch (cause) {
      case FIRST -> to + ", as it was set: no window of requests has used it yet.";
      case GRADIENT -> moved() + byGradient();
      case VEGAS -> moved() + byQueue();
      case AIMD -> moved() + "no request was dropped, and up to " + mostOut + " were in flight.";
      case DROP -> moved() + "a request was dropped.";
      case MEASURING -> moved() + "the latency without a queue is being measured.";
      case MEASURED ->
          moved() + "the latency without a queue is known: " + shown(latencies.baseNanos()) + ".";
    };
  }

  private String moved() {
    return (to > from ? "Raised" : "Lowered") + " from " + from + " to " + to + ", because ";
  }

  private String byGradient() {
    double queue = Gradient.queue(from);
    return String.format(
        Locale.ROOT,
        "it goes a fifth of the way to %.1f, which is %.0f %% of it and %.1f for a queue: the latency"
            + " is %s, and %s in the long run.",
        from * latencies.gradient() + queue,
        100 * latencies.gradient(),
        queue,
        shown(latencies.lastNanos()),
        shown(latencies.baseNanos()));
  }

  private String byQueue() {
    return "about "
        + String.format(Locale.ROOT, "%.1f", latencies.queued())
        + " requests are in the backend's queue: the latency is "
        + shown(latencies.lastNanos())
        + ", and "
        + shown(latencies.baseNanos())
        + " without a queue.";
  }

  private static String shown(long nanos) {
    return String.format(Locale.ROOT, "%.3f ms", nanos / 1e6);
  }
}
