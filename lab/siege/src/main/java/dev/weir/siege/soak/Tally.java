package dev.weir.siege.soak;

import dev.weir.siege.guests.Guest;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** The answers to the clients of one protocol, and their latency. Safe for use by many threads. */
public final class Tally {
  private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(10);
  private static final int DIGITS = 3;

  private final Recorder micros = new Recorder(LONGEST_MICROS, DIGITS);
  private final Map<String, LongAdder> reasons = new ConcurrentSkipListMap<>();

  /** Adds an answer. */
  void add(Guest.Answer answer, long nanos) {
    micros.recordValue(Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos)));
    String reason = (answer.allowed() ? "" : "denied ") + answer.reason();
    reasons.computeIfAbsent(reason, first -> new LongAdder()).increment();
  }

  /**
   * The answers since the last snapshot.
   *
   * @param micros the latency of the answers, from the times at which the requests were due, in
   *     microseconds
   * @param reasons the count of each reason; those of refusals begin with "denied"
   */
  public record Heard(Histogram micros, Map<String, Long> reasons) {
    public long answers() {
      return micros.getTotalCount();
    }

    double millisAt(double percentile) {
      return answers() == 0 ? 0 : micros.getValueAtPercentile(percentile) / 1e3;
    }

    double worstMillis() {
      return answers() == 0 ? 0 : micros.getMaxValue() / 1e3;
    }
  }

  /** Returns the answers since the last call. */
  Heard next() {
    Map<String, Long> counts = new TreeMap<>();
    reasons.forEach(
        (reason, count) -> {
          long heard = count.sumThenReset();
          if (heard > 0) {
            counts.put(reason, heard);
          }
        });
    return new Heard(micros.getIntervalHistogram(), counts);
  }
}
