package dev.weir.load;

import java.time.Instant;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The result of a load, in its measured time.
 *
 * @param elapsedNanos the time from the beginning of the measured time until the last answer
 * @param endedEarly true if it was stopped early
 * @param unfinished the requests that were due and were not sent, or not answered, before the end
 * @param latency the latency of the answered requests, in nanoseconds from the time at which each
 *     was due
 * @param longestGapNanos the longest time without an admission
 * @param parts the parts, one for each second or for the planned length
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
   * @param endNanos the end of the part, from the beginning of the measured time
   * @param lengthNanos its measured length
   * @param answered the requests answered in this time
   * @param failed the requests that failed in this time
   * @param p50Nanos the median latency of the answered requests
   * @param lateP99Nanos the time by which the generator itself noticed due requests too late, 0 if
   *     it does not poll
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

  /** Returns the number of requests that were due. */
  public long due() {
    return counts.answered() + undecided();
  }

  /** Returns the number of requests that got no decision, in time or at all. */
  public long undecided() {
    return counts.failed() + unfinished;
  }
}
