package dev.weir.cli;

import java.time.Instant;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What a load came to, in its measured time.
 *
 * @param elapsedNanos from the beginning of the measured time until the last answer was there
 * @param endedEarly whether somebody ended it before its time
 * @param unfinished requests that were due and were not sent, or not answered, before the end
 * @param latency of the answered requests, in nanoseconds from when each was due
 * @param seconds the course of it
 */
record LoadResult(
    Instant started,
    long elapsedNanos,
    boolean endedEarly,
    Tally.Counts counts,
    long unfinished,
    Histogram latency,
    List<Second> seconds) {

  /**
   * About one second of the load.
   *
   * @param endNanos its end, from the beginning of the measured time
   * @param lengthNanos how long it really was
   * @param answered in this time
   * @param p99Nanos latency of these
   */
  record Second(long endNanos, long lengthNanos, long answered, long p99Nanos) {
    double perSecond() {
      return answered * 1e9 / Math.max(1, lengthNanos);
    }
  }

  double perSecond() {
    return counts.answered() * 1e9 / Math.max(1, elapsedNanos);
  }
}
