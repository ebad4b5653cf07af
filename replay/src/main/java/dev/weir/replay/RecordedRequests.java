package dev.weir.replay;

import dev.weir.replay.internal.recorded.TrafficSegment;
import dev.weir.rules.Request;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests that were recorded within a span of time. Immutable; it keeps its requests in memory
 * even after the recorder has dropped them.
 */
public final class RecordedRequests {
  private final long fromNanos;
  private final long toNanos;
  private final long keysPerRecorded;
  private final long came;
  private final List<List<TrafficSegment>> chains;

  /**
   * @param chains lists of segments, each of one stripe and class, in the order of their times
   */
  RecordedRequests(
      long fromNanos,
      long toNanos,
      long keysPerRecorded,
      long came,
      List<List<TrafficSegment>> chains) {
    this.fromNanos = fromNanos;
    this.toNanos = toNanos;
    this.keysPerRecorded = keysPerRecorded;
    this.came = came;
    this.chains = List.copyOf(chains);
  }

  /** Returns the first instant of the span, in nanoseconds since the Unix epoch. */
  public long fromNanos() {
    return fromNanos;
  }

  /** Returns the last instant of the span, in nanoseconds since the Unix epoch. */
  public long toNanos() {
    return toNanos;
  }

  /** Returns the number of keys that each key in it stands for: 1 if all are in it. */
  public long keysPerRecorded() {
    return keysPerRecorded;
  }

  /** Returns the number of requests that came in that span, recorded or not. */
  public long came() {
    return came;
  }

  /** A position in one chain. */
  private static final class Reader {
    private final int number;
    private final List<TrafficSegment> chain;
    private int segment;
    private TrafficSegment.Reading reading;

    Reader(int number, List<TrafficSegment> chain) {
      this.number = number;
      this.chain = chain;
      reading = chain.get(0).new Reading();
    }

    /** Moves to the chain's next request. */
    boolean next() {
      while (!reading.next()) {
        if (++segment == chain.size()) {
          return false;
        }
        reading = chain.get(segment).new Reading();
      }
      return true;
    }
  }

  /** A cursor over the requests, in the order of their times. For one thread. */
  public final class Cursor {
    private final PriorityQueue<Reader> readers =
        new PriorityQueue<>(
            Comparator.comparingLong((Reader each) -> each.reading.nanos())
                .thenComparingInt(each -> each.number));

    private long nanos;
    private @Nullable Request request;

    Cursor() {
      for (int i = 0; i < chains.size(); i++) {
        Reader reader = new Reader(i, chains.get(i));
        if (reader.next()) {
          readers.add(reader);
        }
      }
    }

    /** Moves to the next request; false if there is none. */
    public boolean next() {
      for (Reader first = readers.poll(); first != null; first = readers.poll()) {
        nanos = first.reading.nanos();
        Request read = first.reading.request();
        if (first.next()) {
          readers.add(first);
        }
        if (nanos >= fromNanos && nanos <= toNanos) {
          request = read;
          return true;
        }
      }
      request = null;
      return false;
    }

    /** Returns the time at which the request came, in nanoseconds since the Unix epoch. */
    public long nanos() {
      return nanos;
    }

    /**
     * Returns the request.
     *
     * @throws IllegalStateException if there is none
     */
    public Request request() {
      if (request == null) {
        throw new IllegalStateException("request: none (expected: after next)");
      }
      return request;
    }
  }

  /** Returns a cursor before the first request. */
  public Cursor cursor() {
    return new Cursor();
  }
}
