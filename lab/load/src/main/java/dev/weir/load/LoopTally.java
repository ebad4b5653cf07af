package dev.weir.load;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.jspecify.annotations.Nullable;

/** The results of one loop's requests. One thread writes; any may read. */
public final class LoopTally {
  /**
   * The longest time that is counted: longer than any request, that is, the longest run and the
   * wait for its last answers.
   */
  static final long HIGHEST_NANOS = TimeUnit.HOURS.toNanos(2);

  /** The significant digits of latencies. */
  static final int DIGITS = 3;

  /** The most kinds of errors; further kinds count as {@link #OTHER}. */
  static final int MAX_KINDS = 16;

  /** The longest name of a kind, which may quote the server; longer ones are cut. */
  static final int MAX_KIND_LENGTH = 80;

  static final String OTHER = "other";

  /** The significant digits of the generator's own lateness. */
  static final int LATE_DIGITS = 2;

  private final Schedule schedule;
  private final AdmissionGap gap;
  private final SingleWriterRecorder recorder = new SingleWriterRecorder(1, HIGHEST_NANOS, DIGITS);
  private final SingleWriterRecorder late = new SingleWriterRecorder(1, HIGHEST_NANOS, LATE_DIGITS);
  private final LongAdder started = new LongAdder();
  private final LongAdder allowed = new LongAdder();
  private final LongAdder denied = new LongAdder();
  private final LongAdder lostConnections = new LongAdder();
  private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
  private @Nullable Histogram recycled;
  private @Nullable Histogram recycledLate;

  /** A snapshot of the counts. */
  public record Counts(
      long started, long allowed, long denied, long lostConnections, Map<String, Long> errors) {
    static final Counts NONE = new Counts(0, 0, 0, 0, Map.of());

    /** Returns the number of requests that were answered. */
    public long answered() {
      return allowed + denied;
    }

    /** Returns how many requests failed. */
    public long failed() {
      return errors.values().stream().mapToLong(Long::longValue).sum();
    }

    Counts plus(Counts other) {
      Map<String, Long> sum = new TreeMap<>(errors);
      other.errors.forEach((kind, count) -> sum.merge(kind, count, Long::sum));
      return new Counts(
          started + other.started,
          allowed + other.allowed,
          denied + other.denied,
          lostConnections + other.lostConnections,
          sum);
    }
  }

  /**
   * @param gap the gap that all loops share
   */
  LoopTally(Schedule schedule, AdmissionGap gap) {
    this.schedule = schedule;
    this.gap = gap;
  }

  void started(long dueNanos) {
    if (schedule.measured(dueNanos)) {
      started.increment();
    }
  }

  void answered(long dueNanos, long nowNanos, boolean allows) {
    if (schedule.measured(dueNanos)) {
      recorder.recordValue(Math.min(Math.max(nowNanos - dueNanos, 0), HIGHEST_NANOS));
      (allows ? allowed : denied).increment();
      if (allows) {
        gap.admitted(nowNanos);
      }
    }
  }

  /** Records the time by which the generator noticed a measured request too late. */
  void noticed(long lateNanos) {
    late.recordValue(Math.min(lateNanos, HIGHEST_NANOS));
  }

  void failed(long dueNanos, String kind) {
    if (!schedule.measured(dueNanos)) {
      return;
    }
    String name = kind.length() <= MAX_KIND_LENGTH ? kind : kind.substring(0, MAX_KIND_LENGTH);
    LongAdder count = errors.get(name);
    if (count == null) {
      boolean room = errors.size() < MAX_KINDS - 1;
      count = errors.computeIfAbsent(room ? name : OTHER, each -> new LongAdder());
    }
    count.increment();
  }

  void connectionLost() {
    lostConnections.increment();
  }

  Counts counts() {
    Map<String, Long> kinds = new TreeMap<>();
    errors.forEach((kind, count) -> kinds.put(kind, count.sum()));
    return new Counts(started.sum(), allowed.sum(), denied.sum(), lostConnections.sum(), kinds);
  }

  /** Adds latencies and lateness since the last call. Not for two threads at once. */
  void drainInto(Histogram latency, Histogram lateness) {
    recycled = recorder.getIntervalHistogram(recycled);
    latency.add(recycled);
    recycledLate = late.getIntervalHistogram(recycledLate);
    lateness.add(recycledLate);
  }
}
