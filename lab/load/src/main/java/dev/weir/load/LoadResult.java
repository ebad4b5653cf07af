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
 * @param longestGapNanos the longest time without an admission
 * @param parts one entry for each second, or whatever length was planned
 */
public record LoadResult(
    Instant started,
    long elapsedNanos,
    boolean endedEarly,
    LoopTally.Counts counts,
    long unfinished,
    Histogram latency,
    long longestGapNanos,
    List<Part> parts) {

  /**
   * The result of a part of the measured time.
   *
   * @param endNanos its end, from the beginning of the measured time
   * @param lengthNanos its measured length
   * @param answered in this time
   * @param failed in this time
   * @param p50Nanos latency of the answered ones
   * @param lateP99Nanos how late the generator itself saw that requests were due, 0 if it does not
   *     poll
   */
  public record Part(
      long endNanos,
      long lengthNanos,
      long answered,
      long failed,
      long p50Nanos,
      long p99Nanos,
      long p999Nanos,
      long maxNanos,
      long lateP99Nanos) {
    static final Part NONE = new Part(0, 0, 0, 0, 0, 0, 0, 0, 0);

    public double perSecond() {
      return answered * 1e9 / Math.max(1, lengthNanos);
    }
  }

  public double perSecond() {
    return counts.answered() * 1e9 / Math.max(1, elapsedNanos);
  }

  /** Returns how many requests were due. */
  public long due() {
    return counts.answered() + undecided();
  }

  /** Returns how many of them got no decision, in time or at all. */
  public long undecided() {
    return counts.failed() + unfinished;
  }
}
