package dev.weir.adaptive;

import dev.weir.adaptive.LimitChange.Cause;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The search for the limit, by the outcomes of requests. Safe for use by many threads. */
final class AdaptiveSearch {
  /*
   * Outcomes are gathered in windows. A window is over when it is as long as was set and twice the
   * latency of the one before, so that it shows the effect of the last step, and has enough
   * successes for an average. One in which less than half of the limit was in use says nothing about
   * it and is passed over: a limit must not grow by idleness. Then the algorithm makes one step.
   *
   * A drop counts at once. Requests that began before the last drop that counted say nothing about
   * the limit after it, and further drops within a window belong to the same congestion: a crowd
   * that fails together lowers the limit once. [The recovery point of TCP NewReno, RFC 6582]
   *
   * The latency to compare with is that without a queue, and under load that never ends there is
   * always one. So after a hundred windows the limit is halved for a window, of which only requests
   * that began under the halved limit count, and again, until the latency falls no more: then it
   * has no part that is a queue's. A backend that has become slower for good is so recognized, too.
   * [After ProbeRTT of BBR: Cardwell and others, ACM Queue 14(5), 2016] The first measurement is
   * soon, since the first limit may be above the capacity.
   *
   * A success that finds the lock taken is left out, so that requests do not wait for each other:
   * an average needs only some of them. A drop waits for the lock. What decides on requests is an
   * integer in one word (PermitCount); only the estimates here have fractions.
   */

  private static final int ENOUGH = 10;

  /** The windows in use before the first measurement, and between two. */
  private static final int FIRST_MEASUREMENT = 10;

  private static final int NEXT_MEASUREMENT = 100;

  /** The part of a latency below which it has fallen by the end of a queue, not by chance. */
  private static final double FALL = 0.9;

  /** The longest window that follows from latencies. */
  private static final long MOST_WINDOW_NANOS = 10_000_000_000L;

  private final AdaptiveAlgorithm algorithm;
  private final double tolerance;
  private final Bounds bounds;
  private final long windowNanos;
  private final PermitCount count;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private Estimate estimate;
  private LimitChange change;
  private LatencyEstimate latencies = new LatencyEstimate(0, 0, 1, 0);
  private long lastNanos;
  private double sumNanos;
  private int successes;
  private int mostOut;
  private long endNanos;
  private long validFromNanos;
  private long droppedNanos = Long.MIN_VALUE;
  private long calmNanos;
  private int untilMeasurement = FIRST_MEASUREMENT;

  /** The window before the one in which the latency is measured now; null while it is not. */
  private @Nullable LatencyWindow measuring;

  /** Makes a search that begins now with the limit of the count. */
  AdaptiveSearch(AdaptiveLimiter.Builder settings, PermitCount count, long nowNanos) {
    this.algorithm = settings.algorithm;
    this.tolerance = settings.tolerance;
    this.bounds = new Bounds(settings.floor, settings.ceiling);
    this.windowNanos = settings.windowNanos;
    this.count = count;
    int first = PermitCount.limit(count.word());
    this.estimate = Estimate.first(first);
    this.change = new LimitChange(Cause.FIRST, first, first, nowNanos, latencies, 0);
    this.validFromNanos = nowNanos;
    this.calmNanos = nowNanos;
    this.endNanos = nowNanos + windowNanos;
  }

  /**
   * Learns the latency of a request that has succeeded.
   *
   * @return whether permits may have become free for requests that wait
   */
  boolean succeeded(long beganNanos, int out, long nowNanos) {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      if (beganNanos < validFromNanos) {
        return false;
      }
      sumNanos += Math.max(1, nowNanos - beganNanos);
      successes++;
      mostOut = Math.max(mostOut, out);
      return nowNanos >= endNanos && successes >= enough() && close(nowNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Learns that a request was dropped. */
  void dropped(long beganNanos, long nowNanos) {
    lock.lock();
    try {
      if (beganNanos <= droppedNanos || nowNanos < calmNanos) {
        return;
      }
      estimate = Aimd.dropped(estimate, bounds);
      droppedNanos = nowNanos;
      calmNanos = nowNanos + lengthNanos();
      int limit = estimate.permits();
      if (measuring == null) {
        validFromNanos = nowNanos;
        begin(nowNanos);
      } else { // It goes on; a drop must not raise the limit.
        limit = Math.min(limit, PermitCount.limit(count.word()));
      }
      boolean unused = publish(Cause.DROP, 0, limit, nowNanos);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the state of the limiter. */
  LimitExplanation explain(long nowNanos) {
    lock.lock();
    try {
      long word = count.word();
      return new LimitExplanation(
          PermitCount.limit(word),
          PermitCount.out(word),
          PermitCount.waiting(word),
          latencies,
          change.sentence(),
          Math.max(0, nowNanos - change.atNanos()));
    } finally {
      lock.unlock();
    }
  }

  private int enough() {
    return Math.min(ENOUGH, 2 * PermitCount.limit(count.word()));
  }

  /** Ends a window; returns whether requests wait for permits of a limit that has risen. */
  private boolean close(long nowNanos) {
    LatencyWindow window = new LatencyWindow(sumNanos / successes, mostOut);
    LatencyWindow measured = measuring;
    if (measured != null) {
      return measured(measured, window, nowNanos);
    }
    boolean used = estimate.isUsedBy(window);
    if (used) {
      lastNanos = (long) window.latencyNanos();
    }
    begin(nowNanos);
    if (!used) {
      return false;
    }
    double before = estimate.limit();
    estimate =
        switch (algorithm) {
          case GRADIENT -> Gradient.step(estimate, window, tolerance, bounds);
          case VEGAS -> Vegas.step(estimate, window, bounds);
          case AIMD -> Aimd.step(estimate, bounds);
        };
    latencies = latencies(before, window.latencyNanos());
    Cause cause =
        switch (algorithm) {
          case GRADIENT -> Cause.GRADIENT;
          case VEGAS -> Cause.VEGAS;
          case AIMD -> Cause.AIMD;
        };
    boolean waits = publish(cause, window.mostOut(), estimate.permits(), nowNanos);
    untilMeasurement--;
    if (untilMeasurement > 0 || algorithm == AdaptiveAlgorithm.AIMD) {
      return waits;
    }
    return measure(window, nowNanos);
  }

  /** Halves the limit for a window, to measure the latency without a queue. */
  private boolean measure(LatencyWindow before, long nowNanos) {
    measuring = before;
    validFromNanos = nowNanos;
    begin(nowNanos);
    int now = PermitCount.limit(count.word());
    return publish(Cause.MEASURING, before.mostOut(), Math.max(bounds.floor(), now / 2), nowNanos);
  }

  /** Ends a window of a measurement: the last one, if the latency has fallen no more. */
  private boolean measured(LatencyWindow before, LatencyWindow window, long nowNanos) {
    double latency = window.latencyNanos();
    boolean falls = latency < FALL * before.latencyNanos();
    if (falls && PermitCount.limit(count.word()) > bounds.floor()) {
      return measure(window, nowNanos);
    }
    measuring = null;
    untilMeasurement = NEXT_MEASUREMENT;
    estimate =
        algorithm == AdaptiveAlgorithm.GRADIENT
            ? Gradient.measured(estimate, latency)
            : estimate.withBase(latency);
    latencies = latencies(estimate.limit(), (double) lastNanos);
    begin(nowNanos);
    validFromNanos = nowNanos;
    return publish(Cause.MEASURED, window.mostOut(), estimate.permits(), nowNanos);
  }

  private LatencyEstimate latencies(double limit, double latency) {
    double base = estimate.baseNanos();
    return new LatencyEstimate(
        (long) latency,
        (long) base,
        algorithm == AdaptiveAlgorithm.GRADIENT ? Gradient.gradient(base, latency, tolerance) : 1,
        algorithm == AdaptiveAlgorithm.VEGAS ? Vegas.queue(limit, base, latency) : 0);
  }

  private void begin(long nowNanos) {
    sumNanos = 0;
    successes = 0;
    mostOut = 0;
    endNanos = nowNanos + lengthNanos();
  }

  /** Returns the least length of a window: the set one, or twice the latency of the last. */
  private long lengthNanos() {
    return Math.max(windowNanos, Math.min(2 * lastNanos, MOST_WINDOW_NANOS));
  }

  private boolean publish(Cause cause, int most, int limit, long nowNanos) {
    int before = PermitCount.limit(count.word());
    if (limit == before) {
      return false;
    }
    change = new LimitChange(cause, before, limit, nowNanos, latencies, most);
    return count.limit(limit) && limit > before;
  }
}
