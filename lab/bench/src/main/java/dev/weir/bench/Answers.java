package dev.weir.bench;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The decisions that callers received in one run, with their times. Failed calls are counted apart.
 * Safe for use by many threads.
 */
public final class Answers {
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final double NANOS_PER_MICRO = 1e3;

  private final int seconds;
  private final Histogram nanos = new Histogram(LONGEST_NANOS, 3);
  private long asked;
  private long refused;
  private long failed;
  private @Nullable Throwable failure;

  public Answers(int seconds) {
    this.seconds = seconds;
  }

  /**
   * Counts a decision.
   *
   * @param timed true if it is within the measured time
   */
  public synchronized void decided(boolean allowed, long tookNanos, boolean timed) {
    asked++;
    if (timed) {
      nanos.recordValue(Math.min(tookNanos, LONGEST_NANOS));
      refused += allowed ? 0 : 1;
    }
  }

  public synchronized void failed(Throwable cause) {
    failed++;
    failure = cause;
  }

  /** Adds the decisions that another caller received in the same time. */
  public synchronized void add(Answers other) {
    nanos.add(other.nanos);
    asked += other.asked;
    refused += other.refused;
    failed += other.failed;
    failure = other.failure == null ? failure : other.failure;
  }

  /** Returns the number of decisions, timed or not. */
  public synchronized long requested() {
    return asked;
  }

  public synchronized double perSecond() {
    return (double) nanos.getTotalCount() / seconds;
  }

  /** Returns the share of the decisions that refused, NaN if there were none. */
  public synchronized double refused() {
    return (double) refused / nanos.getTotalCount();
  }

  /** Returns the microseconds within which a given percentage of the decisions were made. */
  public synchronized double micros(double percentile) {
    return nanos.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }

  public synchronized long failed() {
    return failed;
  }

  /** Returns the failure of a call, or null if none failed. */
  public synchronized @Nullable Throwable failure() {
    return failure;
  }
}
