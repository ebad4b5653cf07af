package dev.weir;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The keys of one table, or of up to three whose states lie side by side, each table's as one part
 * of a key's state: the segments, by the first bits of fingerprints.
 */
final class Directory {
  /*
   * Extendible hashing. [Fagin, Nievergelt, Pippenger and Strong, 1979] The segments are an
   * immutable array behind one volatile field. Splitting a segment replaces it by one in which two
   * halves stand in the segment's place, twice as long if necessary. A thread that then finds the
   * old segment sees that it is marked, and reads the array again.
   *
   * Why do tables share a directory? Quotas that are charged together, for the same keys, need one
   * look-up then, one stamp and one lock, and mostly one place in memory (Store.colocate).
   * Nothing else depends on it: each table is still that of one name and one shape, and has images,
   * journals, bars and witnesses of its own. A key of which a table counts nothing has a fresh
   * state there, while another part of it is charged; it is forgotten once all parts have reset.
   */

  /**
   * The number of segments at first, as a power of two: locks, a few for each core of a common
   * machine.
   */
  private static final int FIRST_DEPTH = 4;

  /**
   * The most segments that a directory can have, as a power of two: a million, as many keys as
   * arrays can hold.
   */
  static final int MAX_DEPTH = 20;

  /** The number of calls in which all segments are swept once. */
  private static final int SWEEPS = 16;

  final Budget budget;

  /** True if a table's states vary in length, so that all parts are in slabs. */
  final boolean varies;

  /** The state of a key that is new to all tables, and the {@link Lengths} of its parts. */
  final long[] fresh;

  final long lengths;

  private final Table[] tables;
  private final List<Budget> budgets;
  private final Object lock = new Object();
  private final Object handLock = new Object();
  private final AtomicInteger elsewhere = new AtomicInteger();
  private volatile Segment[] segments = new Segment[1 << FIRST_DEPTH];
  private int hand;

  /**
   * Creates an empty directory with its tables.
   *
   * @param shapes those of the tables, 1 to {@link Lengths#MOST_PARTS}
   * @param budgets those of the tables' names
   * @param budget that of the keys here: the name's if there is only one
   */
  Directory(List<Shape> shapes, List<Budget> budgets, Budget budget, Calendar calendar) {
    this.budget = budget;
    this.budgets = budgets;
    this.tables = new Table[shapes.size()];
    boolean any = false;
    long[] whole = {};
    long all = 0;
    for (int part = 0; part < tables.length; part++) {
      Shape shape = shapes.get(part);
      int start = Lengths.start(all, part);
      Table table = new Table(this, part, start, shape, budgets.get(part), calendar);
      tables[part] = table;
      any |= table.meter.words() == 0;
      whole = Lengths.replaced(whole, 0, all, part, table.fresh);
      all = Lengths.with(all, part, table.fresh.length);
    }
    this.varies = any;
    this.fresh = whole;
    this.lengths = all;
    for (int i = 0; i < segments.length; i++) {
      segments[i] = new Segment(this, FIRST_DEPTH);
    }
  }

  /** Returns how many keys there are. */
  long size() {
    long size = 0;
    for (Segment segment : all()) {
      size += segment.size();
    }
    return size;
  }

  /** Returns how many bytes the keys and states take. */
  long bytes() {
    long bytes = 0;
    for (Segment segment : all()) {
      bytes += segment.bytes();
    }
    return bytes;
  }

  /** Returns the tables, by their parts. */
  List<Table> tables() {
    return Collections.unmodifiableList(Arrays.asList(tables));
  }

  Table table(int part) {
    return tables[part];
  }

  /** Returns whether this is the directory of one table alone. */
  boolean isOfOne() {
    return tables.length == 1;
  }

  /** Returns the segment of a key. The low bits of a fingerprint choose its slot there. */
  Segment segment(long fingerprint) {
    return segment(segments, fingerprint);
  }

  private static Segment segment(Segment[] segments, long fingerprint) {
    return segments[(int) (fingerprint >>> (Long.numberOfLeadingZeros(segments.length) + 1))];
  }

  /**
   * Reads where the slots of a batch's keys are, those from {@code from} on and before {@code to}.
   * No step waits for the result of another.
   */
  long touch(Batch batch, int from, int to) {
    Segment[] all = segments; // Read once: only deciding has to notice splits.
    long read = 0;
    for (int i = from; i < to; i++) {
      long fingerprint = MemoryStore.nonZero(batch.fingerprint(i));
      read += segment(all, fingerprint).touch(fingerprint);
    }
    return read;
  }

  /** Finds the slots of a batch's keys, as hints: nothing is locked. */
  void find(Batch batch, int from, int to, int[] hints) {
    Segment[] all = segments;
    for (int i = from; i < to; i++) {
      long fingerprint = MemoryStore.nonZero(batch.fingerprint(i));
      hints[i] = segment(all, fingerprint).hint(fingerprint);
    }
  }

  /**
   * Reads memory where the states of a batch's keys are, if that is not in their slots: nothing is
   * locked.
   *
   * @param hints where {@link #find} has found the slots
   */
  long touchStates(Batch batch, int from, int to, int[] hints) {
    Segment[] all = segments;
    long read = 0;
    for (int i = from; i < to; i++) {
      long fingerprint = MemoryStore.nonZero(batch.fingerprint(i));
      Segment segment = segment(all, fingerprint);
      read += segment.touchState(segment.find(fingerprint, hints[i]));
    }
    return read;
  }

  /** Splits a segment that has become large; no thread may hold its lock. */
  void split(Segment segment) {
    if (segment.depth == MAX_DEPTH) {
      return;
    }
    long stamp = segment.writeLock();
    try {
      if (segment.isLarge() && !segment.isSplit()) {
        synchronized (lock) { // An image begins before or after.
          replace(segment, segment.halves());
        }
      }
    } finally {
      segment.unlockWrite(stamp);
    }
  }

  private void replace(Segment segment, Segment[] halves) {
    Segment[] before = segments;
    int doubled = before.length == 1 << segment.depth ? 1 : 0;
    Segment[] after = new Segment[before.length << doubled];
    int shift = Integer.numberOfTrailingZeros(after.length) - segment.depth - 1;
    for (int i = 0; i < after.length; i++) {
      Segment old = before[i >> doubled];
      after[i] = old == segment ? halves[(i >> shift) & 1] : old;
    }
    segments = after;
  }

  /** Drops the bounds of names whose tables have left. */
  synchronized void boundByPresent() {
    if (!isOfOne()) {
      budget.boundBy(
          IntStream.range(0, tables.length)
              .filter(part -> !tables[part].hasLeft())
              .mapToObj(budgets::get)
              .toList());
    }
  }

  /** Gives back the room of a directory that no request has seen, and that of its keys. */
  void discard(int keys) {
    budget.giveBack(keys);
    budget.grown(-bytes());
  }

  /** Runs a task while no segment is split; it may see all of the segments. */
  <T> T whole(Function<List<Segment>, T> task) {
    synchronized (lock) {
      return task.apply(Collections.unmodifiableList(Arrays.asList(segments)));
    }
  }

  /** Returns all segments that there are now. */
  Set<Segment> all() {
    return new LinkedHashSet<>(Arrays.asList(segments));
  }

  /** Returns the segments of the keys between two fingerprints, as unsigned numbers. */
  Set<Segment> segments(long first, long last) {
    Segment[] all = segments;
    int shift = Long.numberOfLeadingZeros(all.length) + 1;
    Set<Segment> found = new LinkedHashSet<>();
    for (int i = (int) (first >>> shift); i <= (int) (last >>> shift); i++) {
      found.add(all[i]);
    }
    return found;
  }

  /** Makes each segment's change under its lock; also in the halves of those that are split. */
  void change(Consumer<Segment> change) {
    Segment[] seen;
    do {
      seen = segments;
      for (Segment segment : new LinkedHashSet<>(Arrays.asList(seen))) {
        long stamp = segment.writeLock();
        try {
          change.accept(segment);
        } finally {
          segment.unlockWrite(stamp);
        }
      }
    } while (seen != segments);
  }

  /** Returns the latest instant by which a state that was forgotten had reset. */
  long floorNanos() {
    long floor = Meter.LONG_AGO;
    for (Segment segment : segments) {
      floor = Math.max(floor, segment.floorNanos());
    }
    return floor;
  }

  /** Returns the latest time at which anything was put into a table. */
  long latestNanos(Table table) {
    long latest = Meter.LONG_AGO;
    for (Segment segment : segments) {
      latest = Math.max(latest, segment.latestNanos(table));
    }
    return latest;
  }

  /**
   * Returns whether a table has a state that has not reset, among those that count longer than
   * charges of their time do. The caller holds no lock of a segment.
   */
  boolean counts(Table table, long nowNanos) {
    for (Segment segment : all()) {
      if (segment.lastResetNanos(table) > nowNanos) {
        long stamp = segment.writeLock();
        try {
          segment.measure(table); // The state may have been forgotten or given back.
        } finally {
          segment.unlockWrite(stamp);
        }
        if (segment.isSplit() || segment.lastResetNanos(table) > nowNanos) {
          return true; // If it was split, it is asked again at the next call.
        }
      }
    }
    return false;
  }

  /** Forgets keys that have reset, in the next few segments at each call. */
  void forgetSome(long nowNanos) {
    synchronized (handLock) {
      Segment[] all = segments;
      for (int end = hand + all.length / SWEEPS; hand < end; ) {
        Segment segment = all[hand & (all.length - 1)];
        long stamp = segment.writeLock();
        try {
          segment.forget(nowNanos);
        } finally {
          segment.unlockWrite(stamp);
        }
        hand += all.length >> segment.depth;
      }
      hand &= all.length - 1;
    }
  }

  /**
   * Forgets some keys that have reset in one more segment, unless another thread holds its lock.
   */
  void forgetElsewhere(long nowNanos, int steps) {
    Segment[] all = segments;
    Segment segment = all[elsewhere.getAndIncrement() & (all.length - 1)];
    long stamp = segment.tryWriteLock();
    if (stamp != 0) {
      try {
        segment.forget(nowNanos, steps);
      } finally {
        segment.unlockWrite(stamp);
      }
    }
  }

  /**
   * Checks that every key can be found and that the sums are right; no request may be decided
   * meanwhile.
   *
   * @return the keys and bytes found
   * @throws IllegalStateException if a segment is broken
   */
  long[] verify() {
    long[] found = {0, 0};
    Segment[] all = segments;
    for (int i = 0; i < all.length; i += all.length >> all[i].depth) {
      Segment segment = all[i];
      segment.verify();
      segment.forEach(
          fingerprint -> {
            if (segment(fingerprint) != segment) {
              throw new IllegalStateException("fingerprint " + fingerprint + ": elsewhere");
            }
          });
      found[0] += segment.size();
      found[1] += segment.bytes();
    }
    return found;
  }
}
