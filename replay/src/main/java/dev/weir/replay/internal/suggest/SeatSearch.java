package dev.weir.replay.internal.suggest;

import dev.weir.Policy;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.suggest.LimitSearch.StoppedException;
import dev.weir.replay.internal.suggest.LimitSearch.TriedLimit;
import dev.weir.traffic.TrafficException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The refusals by every limit at the same time, over a trace with durations. A request counts from
 * its begin until its end, for as long as middleware keeps a seat at most. For one thread.
 */
public final class SeatSearch implements RefusalSearch {
  /*
   * How can one pass find the refusals by all limits? Let the seats of a key have numbers, and let
   * each request take the lowest that is free. Whether seat s is taken depends only on the seats
   * below it: a request comes to s only if 1 to s - 1 are taken. So the seats 1 to N change as if
   * there were no others, which is a limit of N, and that limit refuses exactly the requests that
   * took a seat above N. Hence a higher limit never refuses a request that a lower one admits, and
   * the smallest limit for a share is exact. The highest number is also the most at once.
   *
   * This needs one permit for each request. With others, a limit may admit a large request that
   * keeps two small ones out, so each limit is tried by a pass of its own, as for rates.
   */

  /** The most requests that may be in flight at once: each takes some 40 bytes. */
  private static final int MOST_IN_FLIGHT = 4_000_000;

  private static final int LOOK_EVERY = 4096;

  private static final long LONGEST_NANOS = RequestSeats.LONGEST.toNanos();

  private static final int[] NONE = {};

  /** The end of a request. */
  private record End(long atNanos, int key, int seat, long permits) implements Comparable<End> {
    @Override
    public int compareTo(End other) {
      return Long.compare(atNanos, other.atNanos);
    }
  }

  private final Trace trace;
  private final Set<Integer> ignored;
  private final TreeMap<Long, TriedLimit> tried = new TreeMap<>();

  /** For each key the number of requests that took each seat, from the first on. */
  private final int[][] took;

  /** For each key the most permits at once. */
  private final long[] most;

  private boolean weighted;
  private long longestNanos;

  private final int mostInFlight;

  private SeatSearch(Trace trace, Set<Integer> ignored, int mostInFlight) {
    this.mostInFlight = mostInFlight;
    this.trace = trace;
    this.ignored = ignored;
    took = new int[trace.keys()][];
    Arrays.fill(took, NONE);
    most = new long[trace.keys()];
  }

  /**
   * Reads a trace once.
   *
   * @param ignored the keys whose requests are left out
   * @throws TrafficException if too many requests are in flight at once
   */
  public static SeatSearch of(Trace trace, Set<Integer> ignored)
      throws TrafficException, StoppedException {
    return of(trace, ignored, MOST_IN_FLIGHT);
  }

  /**
   * @param mostInFlight the most requests in flight at once
   */
  static SeatSearch of(Trace trace, Set<Integer> ignored, int mostInFlight)
      throws TrafficException, StoppedException {
    SeatSearch search = new SeatSearch(trace, ignored, mostInFlight);
    search.readAll();
    return search;
  }

  private void readAll() throws TrafficException, StoppedException {
    @Nullable BitSet[] seats = new BitSet[trace.keys()];
    long[] out = new long[trace.keys()];
    PriorityQueue<End> ends = new PriorityQueue<>();
    Trace.Cursor cursor = trace.cursor();
    for (long i = 1; cursor.next(); i++) {
      for (End end = ends.peek(); isOver(end, cursor.nanos()); end = ends.peek()) {
        End over = ends.remove();
        seats[over.key].clear(over.seat);
        out[over.key] -= over.permits;
      }
      int key = cursor.key();
      if (!ignored.contains(key)) {
        weighted |= cursor.permits() != 1;
        longestNanos = Math.max(longestNanos, cursor.durationNanos());
        seats[key] = seats[key] == null ? new BitSet() : seats[key];
        int seat = seats[key].nextClearBit(0);
        seats[key].set(seat);
        out[key] += cursor.permits();
        most[key] = Math.max(most[key], out[key]);
        if (seat >= took[key].length) {
          took[key] = Arrays.copyOf(took[key], Math.max(seat + 1, took[key].length * 3 / 2));
        }
        took[key][seat]++;
        add(ends, new End(endNanos(cursor), key, seat, cursor.permits()));
      }
      look(i);
    }
  }

  private static boolean isOver(@Nullable End end, long nowNanos) {
    return end != null && end.atNanos <= nowNanos;
  }

  private static long endNanos(Trace.Cursor cursor) {
    return cursor.nanos() + Math.min(LONGEST_NANOS, Math.max(0, cursor.durationNanos()));
  }

  private void add(PriorityQueue<End> ends, End end) throws TrafficException {
    if (ends.size() >= mostInFlight) {
      throw new TrafficException(
          "input: more than "
              + mostInFlight
              + " requests in flight at once (expected: at most that many; are the durations in"
              + " another unit?)");
    }
    ends.add(end);
  }

  private static void look(long records) throws StoppedException {
    if (records % LOOK_EVERY == 0 && Thread.interrupted()) {
      throw new StoppedException();
    }
  }

  /**
   * Returns the smallest limit that is enough: with one permit for each request, exactly; with
   * others, one that is enough while one less is not.
   *
   * @throws TrafficException if even the highest limit is not enough
   */
  @Override
  public TriedLimit smallest(Predicate<TriedLimit> enough)
      throws TrafficException, StoppedException {
    long no = -1;
    long yes = Math.min(Policy.MOST_SEATS, mostAtOnce());
    if (!enough.test(refused(yes))) {
      throw new TrafficException(
          "concurrency: more than "
              + Policy.MOST_SEATS
              + " would be needed (expected: at most that many)");
    }
    while (yes - no > 1) {
      long middle = (no + yes) / 2;
      if (enough.test(refused(middle))) {
        yes = middle;
      } else {
        no = middle;
      }
    }
    return refused(yes);
  }

  /** Returns the refusals by a limit, 0 or more. */
  @Override
  public TriedLimit refused(long limit) throws TrafficException, StoppedException {
    TriedLimit known = tried.get(limit);
    if (known == null) {
      long[] refusedOf = new long[took.length];
      long permits = weighted ? simulated(limit, refusedOf) : counted(limit, refusedOf);
      known = tried(limit, permits, refusedOf);
      tried.put(limit, known);
    }
    return known;
  }

  private long counted(long limit, long[] refusedOf) {
    long sum = 0;
    for (int key = 0; key < took.length; key++) {
      for (long seat = limit; seat < took[key].length; seat++) {
        refusedOf[key] += took[key][(int) seat];
      }
      sum += refusedOf[key];
    }
    return sum;
  }

  private long simulated(long limit, long[] refusedOf) throws TrafficException, StoppedException {
    long permits = 0;
    long[] out = new long[took.length];
    PriorityQueue<End> ends = new PriorityQueue<>();
    Trace.Cursor cursor = trace.cursor();
    for (long i = 1; cursor.next(); i++) {
      for (End end = ends.peek(); isOver(end, cursor.nanos()); end = ends.peek()) {
        End over = ends.remove();
        out[over.key] -= over.permits;
      }
      int key = cursor.key();
      if (!ignored.contains(key) && most[key] > limit && cursor.permits() > 0) {
        if (cursor.permits() > limit - out[key]) {
          refusedOf[key]++;
          permits += cursor.permits();
        } else {
          out[key] += cursor.permits();
          add(ends, new End(endNanos(cursor), key, 0, cursor.permits()));
        }
      }
      look(i);
    }
    return permits;
  }

  private static TriedLimit tried(long limit, long permits, long[] refusedOf) {
    long requests = 0;
    long keys = 0;
    int worst = -1;
    for (int key = 0; key < refusedOf.length; key++) {
      requests += refusedOf[key];
      keys += refusedOf[key] > 0 ? 1 : 0;
      if (refusedOf[key] > (worst < 0 ? 0 : refusedOf[worst])) {
        worst = key;
      }
    }
    return new TriedLimit(limit, requests, permits, keys, worst, worst < 0 ? 0 : refusedOf[worst]);
  }

  /** Returns the most permits of one key that are out at once without a limit. */
  public long mostAtOnce() {
    return Arrays.stream(most).max().orElse(0);
  }

  /** Returns the key with the most at once; of equals, the first. */
  public int mostKey() {
    int key = 0;
    for (int i = 1; i < most.length; i++) {
      key = most[i] > most[key] ? i : key;
    }
    return key;
  }

  /**
   * Returns the number of permits at once that so many in a hundred keys never exceed.
   *
   * @param percent 1 to 100
   */
  public long keysAtMost(int percent) {
    long[] sorted =
        IntStream.range(0, most.length)
            .filter(key -> !ignored.contains(key))
            .mapToLong(key -> most[key])
            .sorted()
            .toArray();
    return sorted.length == 0 ? 0 : sorted[(int) ((percent * (long) sorted.length + 99) / 100) - 1];
  }

  /** Returns the longest duration in nanoseconds, 0 if none is known. */
  public long longestNanos() {
    return longestNanos;
  }
}
