package dev.weir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The states of the keys of one shape: compact, concurrent, and without those that have reset. */
final class Table {
  /*
   * A directory over segments, by the first bits of fingerprints: extendible hashing. [Fagin,
   * Nievergelt, Pippenger and Strong, 1979] The directory is an immutable array behind one volatile
   * field. Splitting a segment replaces it by one in which two halves stand in the segment's place,
   * twice as long if necessary. A thread that then finds the old segment sees that it is marked,
   * and reads the directory again.
   *
   * The sketch: a key that is new when there is no room may be counted in the cell of those whose
   * fingerprints begin like its own. A cell is a slot like any other, under a fingerprint made of
   * those first bits; it counts each of its keys at least in full. There are few cells: a sixteenth
   * of the keys that the budget allows. A key that is new while its cell is live starts with the
   * cell's state, since part of that may be its own.
   *
   * The unknown: after a restart it may not be known what was admitted before an instant. A key
   * without a slot then starts as if it had been charged more than any limit at that instant, and
   * for as long as such a charge counts.
   */

  /**
   * The number of segments at first, as a power of two: locks, a few for each core of a common
   * machine.
   */
  private static final int FIRST_DEPTH = 4;

  /**
   * The most segments that a table can have, as a power of two: a million, as many keys as arrays
   * can hold.
   */
  private static final int MAX_DEPTH = 20;

  /** The number of calls in which all segments are swept once. */
  private static final int SWEEPS = 16;

  final Shape shape;
  final Meter meter;
  final Budget budget;

  /** True if a state is one word, that of a {@link Gcra}. */
  final boolean ofBuckets;

  /** The journal of every change, if there is one; set before any decision. */
  @Nullable TableJournal journal;

  /** The state of a new key; for reading only. */
  final long[] fresh;

  private final int cellBits;
  private final AtomicInteger cells = new AtomicInteger();
  private final Object directoryLock = new Object();
  private final Object handLock = new Object();
  private final AtomicInteger elsewhere = new AtomicInteger();
  private volatile Segment[] directory = new Segment[1 << FIRST_DEPTH];
  private long unknownBeforeNanos = Meter.LONG_AGO;
  private long unknownForNanos;
  private volatile boolean unknown;
  private volatile int imaging;

  /** The number of the last image that was begun of this table. */
  private volatile int lastImage;

  private volatile List<Pause> pauses = List.of();
  private int hand;

  Table(Shape shape, Budget budget, Calendar calendar) {
    this.shape = shape;
    this.meter = shape.meter(calendar);
    this.budget = budget;
    this.ofBuckets = meter instanceof Gcra;
    this.fresh = meter.fresh();
    long keys = Math.min(budget.maxKeys(), budget.maxBytes() / Long.SIZE);
    this.cellBits = Math.max(4, Math.min(MAX_DEPTH, 63 - 4 - Long.numberOfLeadingZeros(keys | 1)));
    for (int i = 0; i < directory.length; i++) {
      directory[i] = new Segment(this, FIRST_DEPTH);
    }
  }

  /** Returns whether a key's state alone decides here for a policy of a shape. */
  boolean serves(Shape other) {
    return shape.equals(other) && pauses.isEmpty();
  }

  /** Returns the pauses that may not be over, in the order in which they begin. */
  List<Pause> pauses() {
    return pauses;
  }

  /** Adds pauses; afterwards the path of requests has to be chosen anew, see PolicyHistory. */
  void pause(List<Pause> more) {
    List<Pause> all = new ArrayList<>(pauses);
    all.addAll(more);
    all.sort(Comparator.comparingLong(Pause::fromNanos));
    pauses = List.copyOf(all);
  }

  /** Drops the pauses that are over; returns whether those were the last ones. */
  boolean endPauses(long nowNanos) {
    if (pauses.isEmpty()) {
      return false;
    }
    pauses = pauses.stream().filter(each -> each.untilNanos() > nowNanos).toList();
    return pauses.isEmpty();
  }

  /** Returns the segment of a key. The low bits of a fingerprint choose its slot there. */
  Segment segment(long fingerprint) {
    return segment(directory, fingerprint);
  }

  private static Segment segment(Segment[] segments, long fingerprint) {
    return segments[(int) (fingerprint >>> (Long.numberOfLeadingZeros(segments.length) + 1))];
  }

  /**
   * Reads where the slots of a batch's keys are, those from {@code from} on and before {@code to}.
   * No step waits for the result of another.
   */
  long touch(Batch batch, int from, int to) {
    Segment[] segments = directory; // Read once: only deciding has to notice splits.
    long read = 0;
    for (int i = from; i < to; i++) {
      long fingerprint = MemoryStore.nonZero(batch.fingerprint(i));
      read += segment(segments, fingerprint).touch(fingerprint);
    }
    return read;
  }

  /** Finds the slots of a batch's keys, as hints: nothing is locked. */
  void find(Batch batch, int from, int to, int[] hints) {
    Segment[] segments = directory;
    for (int i = from; i < to; i++) {
      long fingerprint = MemoryStore.nonZero(batch.fingerprint(i));
      hints[i] = segment(segments, fingerprint).hint(fingerprint);
    }
  }

  /** Splits a segment that has become large; no thread may hold its lock. */
  void split(Segment segment) {
    if (segment.depth == MAX_DEPTH) {
      return;
    }
    long stamp = segment.writeLock();
    try {
      if (segment.isLarge() && !segment.isSplit()) {
        synchronized (directoryLock) { // An image begins before or after.
          replace(segment, segment.halves());
        }
      }
    } finally {
      segment.unlockWrite(stamp);
    }
  }

  private void replace(Segment segment, Segment[] halves) {
    Segment[] before = directory;
    int doubled = before.length == 1 << segment.depth ? 1 : 0;
    Segment[] after = new Segment[before.length << doubled];
    int shift = Integer.numberOfTrailingZeros(after.length) - segment.depth - 1;
    for (int i = 0; i < after.length; i++) {
      Segment old = before[i >> doubled];
      after[i] = old == segment ? halves[(i >> shift) & 1] : old;
    }
    directory = after;
  }

  /** Returns the fingerprint of the cell that counts a key for which there is no room. */
  long cell(long fingerprint) {
    long first = fingerprint >>> (Long.SIZE - cellBits);
    return first << (Long.SIZE - cellBits) | ((first + 1) * 0x9e3779b97f4a7c15L) >>> cellBits;
  }

  /** Returns whether any cell is live. */
  boolean sketching() {
    return cells.get() > 0;
  }

  /** Returns whether a key without a slot may have permits that count. */
  boolean isUnsure() {
    return sketching() || unknown;
  }

  /**
   * Returns a copy of the state that counts for a key without a slot, or null if it is a fresh one.
   */
  long @Nullable [] unslotted(long fingerprint, Policy asked) {
    if (sketching()) {
      long cell = cell(fingerprint);
      Segment segment = segment(cell);
      int slot = segment.find(cell);
      if (slot > 0) {
        return copy(segment, slot);
      }
    }
    long before = unknownBeforeNanos;
    return unknown
        ? meter.record(meter.fresh(), 0, before, before, Meter.MOST_PERMITS, asked, asked, true)
        : null;
  }

  /**
   * Sets the instant before which it is not known what was admitted; called before any decision.
   */
  void unknownBefore(long nanos, long nowNanos) {
    unknownBeforeNanos = nanos;
    unknownForNanos = shape.memoryNanos();
    unknown = nowNanos - nanos <= unknownForNanos;
  }

  /**
   * Returns the instant before which it is not known what was admitted, or {@link Meter#LONG_AGO}.
   */
  long unknownBeforeNanos() {
    return unknownBeforeNanos;
  }

  /**
   * Records a policy under which keys are decided, and may have been; called before any decision
   * under it.
   */
  void alsoDecides(Policy policy) {
    long memory = policy.shape().memoryNanos();
    if (unknownBeforeNanos != Meter.LONG_AGO && memory > unknownForNanos) {
      unknownForNanos = memory;
      unknown = true;
    }
  }

  /** Treats the past of this table as known, as {@link MemoryStore#forgetUnknown} does for all. */
  void forgetUnknown() {
    unknownBeforeNanos = Meter.LONG_AGO;
    unknown = false;
  }

  private void forgetUnknown(long nowNanos) {
    if (unknown && nowNanos - unknownBeforeNanos > unknownForNanos) {
      unknown = false;
    }
  }

  /** Takes over the times of a table before its keys are restored. */
  void restoreTimes(long floorNanos, long latestNanos) {
    for (Segment segment : directory) {
      segment.restoreTimes(floorNanos, latestNanos);
    }
  }

  /** Takes a key from an image, even if there is no room. */
  void restore(long fingerprint, long[] state, boolean sketching, long nowNanos) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      budget.add(1);
      segment.add(fingerprint, state, 0, nowNanos);
      if (sketching && fingerprint == cell(fingerprint)) {
        cellAdded();
      }
    } finally {
      segment.unlockWrite(stamp);
    }
    segment.splitIfLarge();
  }

  /**
   * Passes to the visitor every key between two fingerprints, as unsigned numbers, and its state.
   */
  void forEach(long first, long last, BiConsumer<Long, long[]> visitor) {
    for (Segment segment : segments(first, last)) {
      long stamp = segment.writeLock();
      try {
        segment.forEach(first, last, visitor);
      } finally {
        segment.unlockWrite(stamp);
      }
    }
  }

  // The repetition of what a journal has, for keys with or without a slot, even if there is no
  // room.

  /** A change of the state of a slot. */
  private interface Change {
    void make(Segment segment, int slot);
  }

  private void repeat(long fingerprint, long nowNanos, Change change) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      int slot = segment.find(fingerprint);
      if (slot <= 0) {
        budget.add(1);
        slot = segment.addFresh(fingerprint, nowNanos);
      }
      change.make(segment, slot);
    } finally {
      segment.unlockWrite(stamp);
    }
    segment.splitIfLarge();
  }

  void charge(long fingerprint, long effective, long wait, long permits, Policy policy) {
    repeat(
        fingerprint,
        effective,
        (segment, slot) -> segment.charge(slot, effective, wait, permits, policy, effective));
  }

  void record(
      long fingerprint, long effective, long at, long permits, Policy asked, Policy admitting) {
    repeat(
        fingerprint,
        effective,
        (segment, slot) ->
            segment.record(slot, effective, at, permits, asked, admitting, effective));
  }

  void refund(long fingerprint, long latest, long permits, long at, Policy policy) {
    repeat(
        fingerprint,
        latest,
        (segment, slot) -> segment.refund(slot, latest, permits, at, policy, latest));
  }

  void remove(long fingerprint) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.remove(fingerprint, Meter.LONG_AGO);
    } finally {
      segment.unlockWrite(stamp);
    }
  }

  /** Replaces a key's state, or adds the key, or the cell of several, with it. */
  void replace(long fingerprint, long[] state, boolean cell, long nowNanos) {
    Segment segment = segment(fingerprint);
    boolean found;
    long stamp = segment.writeLock();
    try {
      int slot = segment.find(fingerprint);
      found = slot > 0;
      if (found) {
        segment.overwrite(slot, state, nowNanos);
      }
    } finally {
      segment.unlockWrite(stamp);
    }
    if (!found) {
      restore(fingerprint, state, cell, nowNanos);
    }
  }

  /** Takes a key from another store, even if there is no room. */
  void lay(long fingerprint, long[] state, long nowNanos) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.copyFirst();
      budget.add(1);
      int slot = segment.add(fingerprint, state, 0, nowNanos);
      segment.put(slot, segment.state(slot), nowNanos);
    } finally {
      segment.unlockWrite(stamp);
    }
    segment.splitIfLarge();
  }

  /** Forgets every key between two fingerprints, whether or not it still counts. */
  void drop(long first, long last) {
    for (Segment segment : segments(first, last)) {
      long stamp = segment.writeLock();
      try {
        segment.drop(first, last);
      } finally {
        segment.unlockWrite(stamp);
      }
    }
    pauses = pauses.stream().filter(each -> each.first() != first || each.last() != last).toList();
  }

  private Set<Segment> segments(long first, long last) {
    Segment[] segments = directory;
    int shift = Long.numberOfLeadingZeros(segments.length) + 1;
    Set<Segment> found = new LinkedHashSet<>();
    for (int i = (int) (first >>> shift); i <= (int) (last >>> shift); i++) {
      found.add(segments[i]);
    }
    return found;
  }

  /** Bars a key, from an image. */
  void restoreBar(long fingerprint, long untilNanos, long nowNanos) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.bar(fingerprint, untilNanos, nowNanos);
    } finally {
      segment.unlockWrite(stamp);
    }
  }

  /** Takes over from an image exactly the time before which admissions are unknown. */
  void restoreUnknown(long beforeNanos, long forNanos, boolean counts) {
    unknownBeforeNanos = beforeNanos;
    unknownForNanos = forNanos;
    unknown = counts;
  }

  /** Returns the number of the image that is being taken of this table, or 0. */
  int imaging() {
    return imaging;
  }

  /** Begins an image: from now on segments are copied before they change. */
  TableImage beginImage(ShapeTable of, int number) {
    synchronized (directoryLock) {
      imaging = number;
      lastImage = number;
      List<Segment> captured = Collections.unmodifiableList(Arrays.asList(directory));
      return new TableImage(
          of,
          captured,
          sketching(),
          unknownBeforeNanos,
          unknownForNanos,
          unknown,
          floorNanos(),
          latestNanos(),
          pauses);
    }
  }

  /** Returns the number of the last image that was begun of this table, 0 if there is none. */
  int lastImage() {
    return lastImage;
  }

  /** Begins to journal: what is here now has the image of the journal's epoch. */
  void journal(TableJournal own) {
    synchronized (directoryLock) {
      journal = own;
      lastImage = own.epoch();
      for (Segment segment : directory) {
        long stamp = segment.writeLock();
        try {
          segment.imaged(lastImage);
        } finally {
          segment.unlockWrite(stamp);
        }
      }
    }
  }

  void endImage() {
    imaging = 0;
  }

  /** Copies a key's segment for the image that is being taken, if the image needs it. */
  void copyFirst(long fingerprint) {
    int number = imaging;
    if (number != 0) {
      Segment segment = segment(fingerprint);
      if (!segment.isImaged(number)) {
        long stamp = segment.writeLock();
        try {
          segment.copyFirst();
        } finally {
          segment.unlockWrite(stamp);
        }
      }
    }
  }

  int cellBits() {
    return cellBits;
  }

  void cellAdded() {
    cells.incrementAndGet();
  }

  /** Records that a slot is free again. */
  void released(long fingerprint) {
    if (sketching() && fingerprint == cell(fingerprint)) {
      cells.decrementAndGet();
    }
  }

  /** Returns the latest instant by which a state that was forgotten had reset. */
  long floorNanos() {
    long floor = Meter.LONG_AGO;
    for (Segment segment : directory) {
      floor = Math.max(floor, segment.floorNanos());
    }
    return floor;
  }

  /** Returns the latest time at which anything was put into this table. */
  long latestNanos() {
    long latest = Meter.LONG_AGO;
    for (Segment segment : directory) {
      latest = Math.max(latest, segment.latestNanos());
    }
    return latest;
  }

  /** Forgets keys that have reset, in the next few segments at each call. */
  void forgetSome(long nowNanos) {
    forgetUnknown(nowNanos);
    synchronized (handLock) {
      Segment[] segments = directory;
      for (int end = hand + segments.length / SWEEPS; hand < end; ) {
        Segment segment = segments[hand & (segments.length - 1)];
        long stamp = segment.writeLock();
        try {
          segment.forget(nowNanos);
        } finally {
          segment.unlockWrite(stamp);
        }
        hand += segments.length >> segment.depth;
      }
      hand &= segments.length - 1;
    }
  }

  /**
   * Forgets some keys that have reset in one more segment, unless another thread holds its lock.
   */
  void forgetElsewhere(long nowNanos, int steps) {
    Segment[] segments = directory;
    Segment segment = segments[elsewhere.getAndIncrement() & (segments.length - 1)];
    long stamp = segment.tryWriteLock();
    if (stamp != 0) {
      try {
        segment.forget(nowNanos, steps);
      } finally {
        segment.unlockWrite(stamp);
      }
    }
  }

  void clear() {
    Segment[] segments;
    do {
      segments = directory;
      for (Segment segment : segments) {
        long stamp = segment.writeLock();
        try {
          segment.clear();
        } finally {
          segment.unlockWrite(stamp);
        }
      }
    } while (segments != directory); // Split meanwhile: the halves may not have been cleared.
  }

  /** Returns a copy of the state that a slot holds. */
  long[] copy(Segment segment, int slot) {
    return meter.copy(segment.state(slot), segment.offset(slot));
  }

  /**
   * Checks that every key can be found and that the sums are right; no request may be decided
   * meanwhile.
   *
   * @return the keys and bytes found
   * @throws IllegalStateException if this table is broken
   */
  long[] verify() {
    long[] found = {0, 0};
    Segment[] segments = directory;
    for (int i = 0; i < segments.length; i += segments.length >> segments[i].depth) {
      Segment segment = segments[i];
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
