package dev.weir;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The states of the keys of one name and one shape: compact, concurrent, and without those that
 * have reset. They are in a {@link Directory}, alone or beside those of other tables.
 */
final class Table {
  /*
   * Which properties are the table's own, and which its directory's? Keys, slots, locks and room
   * are the directory's. The table has all that depends on its name and shape: the algorithm, the
   * cells of a sketch, what is not known of the past, pauses, the journal, and the image that is
   * being taken.
   *
   * The sketch: a key that is new when there is no room may be counted in the cell of those whose
   * fingerprints begin like its own. A cell is a slot like any other, under a fingerprint made of
   * those first bits; it counts each of its keys at least in full. There are few cells: a sixteenth
   * of the keys that the budget allows. A key that is new while its cell is live starts with the
   * cell's state, since part of that may be its own.
   *
   * The unknown: after a restart it may not be known what was admitted before an instant. A key of
   * which this table counts nothing then starts as if it had been charged more than any limit at
   * that instant, and for as long as such a charge counts.
   */

  final Shape shape;
  final Meter meter;
  final Directory directory;

  /** The number of this table in its directory, which is the part of a key's state. */
  final int part;

  /** The longs before this table's part in a slot, if no part varies in length. */
  final int start;

  /** True if this table's part of a state is one word, that of a {@link Gcra}. */
  final boolean ofBuckets;

  /** True if that is a key's whole state. */
  final boolean ofWords;

  /** The journal of every change, if there is one; set before any decision. */
  @Nullable TableJournal journal;

  /** The state of a new key; for reading only. */
  final long[] fresh;

  private long unknownBeforeNanos = Meter.LONG_AGO;
  private long unknownForNanos;
  private volatile boolean unknown;
  private volatile int imaging;

  /** The number of the last image that was begun of this table. */
  private volatile int lastImage;

  private volatile List<Pause> pauses = List.of();

  private final boolean alone;
  private int cellBits;
  private final AtomicInteger cells = new AtomicInteger();
  private volatile boolean left;

  /** Creates a table of a directory, which makes this call. */
  Table(Directory directory, int part, int start, Shape shape, Budget ofName, Calendar calendar) {
    long keys = Math.min(ofName.maxKeys(), ofName.maxBytes() / Long.SIZE);
    int bits = 63 - 4 - Long.numberOfLeadingZeros(keys | 1);
    this.cellBits = Math.max(4, Math.min(Directory.MAX_DEPTH, bits));
    this.directory = directory;
    this.alone = directory.isOfOne();
    this.part = part;
    this.start = start;
    this.shape = shape;
    this.meter = shape.meter(calendar, part);
    this.ofBuckets = meter instanceof Gcra;
    this.ofWords = ofBuckets && alone;
    this.fresh = meter.fresh();
  }

  /** Returns whether this table counts nothing any more, and never will. */
  boolean hasLeft() {
    return left;
  }

  int cellBits() {
    return cellBits;
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

  void cellAdded() {
    cells.incrementAndGet();
  }

  /** Records that nothing is counted any more under a fingerprint. */
  void released(long fingerprint) {
    if (sketching() && fingerprint == cell(fingerprint)) {
      cells.decrementAndGet();
    }
  }

  /** Returns a table with a directory of its own. */
  static Table alone(Shape shape, Budget budget, Calendar calendar) {
    return new Directory(List.of(shape), List.of(budget), budget, calendar).table(0);
  }

  /** Returns the keys and bytes of the directory, and their bounds. */
  Budget budget() {
    return directory.budget;
  }

  Segment segment(long fingerprint) {
    return directory.segment(fingerprint);
  }

  /**
   * Returns whether this table counts anything of a key that has a slot. Otherwise only other
   * tables do.
   */
  boolean isHeld(long[] state, int offset) {
    return alone || state[offset] != fresh[0];
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
      if (segment.holds(this, slot)) {
        return segment.copy(this, slot);
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

  /** Forgets keys that have reset, in the next few segments at each call. */
  void forgetSome(long nowNanos) {
    forgetUnknown(nowNanos);
    directory.forgetSome(nowNanos);
  }

  /** Takes over the times of a table before its keys are restored. */
  void restoreTimes(long floorNanos, long latestNanos) {
    for (Segment segment : directory.all()) {
      segment.restoreTimes(this, floorNanos, latestNanos);
    }
  }

  /** Takes a key from an image, even if there is no room. */
  void restore(long fingerprint, long[] state, boolean sketching, long nowNanos) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      if (segment.find(fingerprint) <= 0) {
        budget().add(1);
      }
      segment.add(this, fingerprint, state, nowNanos);
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
    for (Segment segment : directory.segments(first, last)) {
      long stamp = segment.writeLock();
      try {
        segment.forEach(this, first, last, visitor);
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
        budget().add(1);
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
        (segment, slot) -> segment.charge(this, slot, effective, wait, permits, policy, effective));
  }

  void record(
      long fingerprint, long effective, long at, long permits, Policy asked, Policy admitting) {
    repeat(
        fingerprint,
        effective,
        (segment, slot) ->
            segment.record(this, slot, effective, at, permits, asked, admitting, effective));
  }

  void refund(long fingerprint, long latest, long permits, long at, Policy policy) {
    repeat(
        fingerprint,
        latest,
        (segment, slot) -> segment.refund(this, slot, latest, permits, at, policy, latest));
  }

  void remove(long fingerprint) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.remove(this, fingerprint, Meter.LONG_AGO);
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
      found = segment.holds(this, slot);
      if (found) {
        segment.overwrite(this, slot, state, nowNanos);
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
      segment.copyFirst(this);
      if (segment.find(fingerprint) <= 0) {
        budget().add(1);
      }
      segment.add(this, fingerprint, state, nowNanos);
      segment.wrote(this, nowNanos);
    } finally {
      segment.unlockWrite(stamp);
    }
    segment.splitIfLarge();
  }

  /** Forgets every key between two fingerprints, whether or not it still counts. */
  void drop(long first, long last) {
    for (Segment segment : directory.segments(first, last)) {
      long stamp = segment.writeLock();
      try {
        segment.drop(this, first, last);
      } finally {
        segment.unlockWrite(stamp);
      }
    }
    pauses = pauses.stream().filter(each -> each.first() != first || each.last() != last).toList();
  }

  /** Bars a key, from an image. */
  void restoreBar(long fingerprint, long untilNanos, long nowNanos) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.bar(this, fingerprint, untilNanos, nowNanos);
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
    return directory.whole(
        segments -> {
          imaging = number;
          lastImage = number;
          return new TableImage(
              of,
              segments,
              sketching(),
              unknownBeforeNanos,
              unknownForNanos,
              unknown,
              directory.floorNanos(),
              directory.latestNanos(this),
              pauses);
        });
  }

  /** Returns the number of the last image that was begun of this table, 0 if there is none. */
  int lastImage() {
    return lastImage;
  }

  /** Begins to journal: what is here now has the image of the journal's epoch. */
  void journal(TableJournal own) {
    journal = own;
    lastImage = own.epoch();
    directory.change(segment -> segment.imaged(this, lastImage));
  }

  void endImage() {
    imaging = 0;
  }

  /** Copies a key's segment for the image that is being taken, if the image needs it. */
  void copyFirst(long fingerprint) {
    int number = imaging;
    if (number != 0) {
      Segment segment = segment(fingerprint);
      if (!segment.isImaged(this, number)) {
        long stamp = segment.writeLock();
        try {
          segment.copyFirst(this);
        } finally {
          segment.unlockWrite(stamp);
        }
      }
    }
  }

  /**
   * Takes over from a table of the same shape, whose segments are locked, and which is not used any
   * more. The bounds do not count for keys that are moved.
   */
  void moveFrom(Table from) {
    cellBits =
        from.cellBits; // The bound may have changed since; live cells are found by these bits.
    unknownBeforeNanos = from.unknownBeforeNanos;
    unknownForNanos = from.unknownForNanos;
    unknown = from.unknown;
    long floor = Math.max(directory.floorNanos(), from.directory.floorNanos());
    restoreTimes(floor, from.directory.latestNanos(from));
    for (Segment each : from.directory.all()) {
      each.forEach(from, 0, -1, (key, state) -> move(key, state, from.sketching()));
      each.forEachBar(from, (fingerprint, until) -> restoreBar(fingerprint, until, Meter.LONG_AGO));
    }
    lastImage = from.lastImage;
    directory.change(segment -> segment.imaged(this, lastImage));
  }

  private void move(long fingerprint, long[] state, boolean sketching) {
    Segment segment = segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      segment.add(this, fingerprint, state, Meter.LONG_AGO);
      if (sketching && fingerprint == cell(fingerprint)) {
        cellAdded();
      }
    } finally {
      segment.unlockWrite(stamp);
    }
    segment.splitIfLarge();
  }

  /** Forgets everything for good, whether or not it still counts. */
  void leave() {
    clear();
    left = true;
    directory.boundByPresent();
  }

  /** Forgets everything, whether or not it still counts. */
  void clear() {
    directory.change(segment -> segment.clear(this));
  }
}
