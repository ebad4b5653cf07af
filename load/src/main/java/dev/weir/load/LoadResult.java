package dev.weir.load;

import java.time.Instant;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The result of a load, in its measured time.
 *
 * @param elapsedNanos from the beginning of the measured time until the last answer
 * @param endedEarly whether it was stopped early
 * @param unfinished requests that were due and were not sent, or not answered, before the end
 * @param latency of the answered requests, in nanoseconds from when each was due
 * @param seconds one entry for each second
 */
public record LoadResult(
    Instant started,
    long elapsedNanos,
    boolean endedEarly,
    LoopTally.Counts counts,
    long unfinished,
    Histogram latency,
    List<Second> seconds) {

  /**
   * The result of about one second.
   *
   * @param endNanos its end, from the beginning of the measured time
   * @param lengthNanos its measured length
   * @param answered in this time
   * @param p99Nanos latency of these
   */
  public record Second(long endNanos, long lengthNanos, long answered, long p99Nanos) {
    public double perSecond() {
      return answered * 1e9 / Math.max(1, lengthNanos);
    }
  }

  public double perSecond() {
    return counts.answered() * 1e9 / Math.max(1, elapsedNanos);
  }
}
