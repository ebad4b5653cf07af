package dev.weir;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a table whose fingerprints begin alike: slots in an open-addressed array with linear
 * probing. A slot is a fingerprint and, beside it, the state, so that a decision finds both in one
 * cache line; or, if states have no fixed length, the state's place in a slab.
 *
 * <p>A writer holds the write lock. A reader may read under an optimistic stamp instead: the values
 * may then be anything until the stamp is validated, but reading them does no harm.
 */
final class Segment extends SequenceLock {
  /*
   * How do segments grow? A slot's home is a fraction of the array, not a mask, so the array may
   * have any length: a large one grows by an eighth, and 71 to 80 % of its slots are always in use.
   * The work of one growth is bounded, because a segment of MAX_SLOTS, or one with a large slab, no
   * longer grows but is split in two by the next bit of the fingerprints (Table.split). So a
   * decision waits at most for the moving of one segment, and a table's memory follows its keys
   * closely, up and down.
   */

  private static final AtomicLong ORDERS = new AtomicLong();

  /**
   * The number of slots at which a segment is split: moving them takes some tens of microseconds.
   */
  static final int MAX_SLOTS = 1 << 13;

  private static final int FIRST_SLOTS = 4;

  /**
   * The number of slots up to which half of them stay free: in small tables speed is worth more.
   */
  private static final int SPARSE_SLOTS = 1 << 10;

  /** The number of keys below which adding a key forgets no others: it is not worth the work. */
  private static final int FORGET_FROM = 64;

  /**
   * The number of slots examined when a key is added: more than one, so that keys that have reset
   * cannot pile up.
   */
  private static final int FORGET_STEPS = 8;

  private static final long LOW = 0xffff_ffffL;

  /** The hint for a key whose slot was not found. */
  static final int NO_HINT = 0;

  /** The low bits of a hint: the width of slots, which determines where in an array they begin. */
  static final int WIDTH_BITS = 3;

  /** The longs of a cache line. */
  private static final int LINE_LONGS = 8;

  /** The bytes of an array besides its elements, if the heap is below 32 GiB. */
  private static final int HEADER_BYTES = 16;

  /** Arrays without slots, by the width of a slot. */
  private static final long[][] NONE = {{}, {1, 0}, {1, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 0}};

  /**
   * The latest instant of a change, beside the lock's own word: both are written for each
   * admission, and so in one cache line.
   */
  private long latestNanos = Meter.LONG_AGO;

  /** The place of this segment in the order in which segments are locked together. */
  final long order = ORDERS.getAndIncrement();

  /** The number of first bits that all fingerprints here have in common. */
  final int depth;

  private final Table table;
  private final Meter meter;
  private final Budget budget;

  /** The longs of a slot: the fingerprint, and the state's words or its place. */
  private final int width;

  /** The states, if they are not in the slots. */
  private final @Nullable Slab slab;

  /** The number of slots, and then the slots; a fingerprint of 0 is a free one. */
  private long[] slots;

  private int size;
  private int hand = 1;
  private boolean split;
  private long floorNanos = Meter.LONG_AGO;

  /** The charges that must keep their permits; most segments have none. */
  private @Nullable Bars bars;

  /** The number of the last image that has these keys, or that this segment is no part of. */
  private int imaged;

  /** The copy for an image that has not taken it yet. */
  private @Nullable SegmentCopy copied;

  Segment(Table table, int depth) {
    this.table = table;
    this.depth = depth;
    this.meter = table.meter;
    this.budget = table.budget;
    this.width = 1 + Math.max(1, meter.words());
    this.slab = meter.words() == 0 ? new Slab() : null;
    this.slots = NONE[width];
    this.imaged = table.lastImage();
  }

  /** Returns whether its halves have taken this segment's place. */
  boolean isSplit() {
    return split;
  }

  int size() {
    return size;
  }

  Meter meter() {
    return meter;
  }

  /** Returns whether this segment is too large to grow once more. */
  boolean isLarge() {
    return slots[0] >= MAX_SLOTS || (slab != null && slab.isLarge());
  }

  /** Splits this segment if it has become large; the caller must not hold its lock. */
  void splitIfLarge() {
    if (isLarge()) {
      table.split(this);
    }
  }

  /** Returns the latest instant by which a state that was forgotten had reset. */
  long floorNanos() {
    return floorNanos;
  }

  /** Returns the latest time at which anything was put into this segment. */
  long latestNanos() {
    return latestNanos;
  }

  /** Returns the number of slots, and then the slots: another array each time keys have moved. */
  long[] slots() {
    return slots;
  }

  /** Reads memory where a key's slot is, as far as one cache line reaches from its home. */
  long touch(long fingerprint) {
    long[] s = slots;
    int home = home(s, width, fingerprint);
    return s[home] ^ s[Math.min(home + LINE_LONGS - 1, s.length - 1)];
  }

  /**
   * Returns where a key's slot is, for {@link #find(long, int)} in this segment or a similar one.
   */
  int hint(long fingerprint) {
    int slot = find(fingerprint);
    return slot > 0 ? slot << WIDTH_BITS | width : NO_HINT;
  }

  /**
   * Finds a key's slot as {@link #find(long)} does, starting from an earlier {@link #hint}, which
   * may have become wrong.
   */
  int find(long fingerprint, int hint) {
    return find(slots, width, fingerprint, hint);
  }

  /** Finds a key's slot as {@link #find(long, int)} does, in an array of slots of a width. */
  static int find(long[] s, int width, long fingerprint, int hint) {
    int slot = hint >>> WIDTH_BITS;
    boolean isSlot = (hint & (1 << WIDTH_BITS) - 1) == width && slot < s.length;
    return isSlot && s[slot] == fingerprint ? slot : find(s, width, fingerprint);
  }

  /** Returns where the key's slot is, or minus where it would be if the key were added now. */
  int find(long fingerprint) {
    return find(slots, width, fingerprint);
  }

  private static int find(long[] s, int width, long fingerprint) {
    int slot = home(s, width, fingerprint);
    while (true) {
      long found = s[slot];
      if (found == fingerprint) {
        return slot;
      }
      if (found == 0) {
        return -slot;
      }
      slot += width;
      if (slot >= s.length) {
        slot = 1;
      }
    }
  }

  private static int home(long[] s, int width, long fingerprint) {
    return 1 + (int) (((fingerprint & LOW) * s[0]) >>> 32) * width;
  }

  /** Returns the array that holds the state of a slot. */
  long[] state(int slot) {
    return slab == null ? slots : slab.page(slots[slot + 1]);
  }

  /** Returns where in its array the state of a slot begins, 0 if there is no slot. */
  int offset(int slot) {
    return (int) place(slot);
  }

  /**
   * Returns the place of a slot's state: its low half is the offset in its array. May be called
   * without the lock: if the slot has just been moved, the place may not exist.
   */
  long place(int slot) {
    if (slot <= 0) {
      return 0;
    }
    if (slab == null) {
      return slot + 1L;
    }
    long[] s = slots; // May be newer than the array in which the slot was found.
    return slot + 1 < s.length ? s[slot + 1] : 0;
  }

  /**
   * Returns the array that holds the state of a slot at its place, or a fresh state if there is no
   * slot. May be called without the lock: null if the state has just been moved.
   */
  long @Nullable [] glimpse(int slot, long place) {
    if (slot <= 0) {
      return table.fresh;
    }
    if (slab != null) {
      return slab.glimpse(place);
    }
    long[] s = slots;
    return slot + width <= s.length ? s : null;
  }

  /**
   * Returns the instant at which a request for a key is decided. If the key is not here, it may
   * have had a state that was forgotten: that had reset by {@code floorNanos}, and only a caller
   * whose own clock goes back can be earlier.
   */
  long effectiveNanos(long[] state, int offset, boolean known, long nowNanos) {
    long earliest = known ? nowNanos : Math.max(nowNanos, floorNanos);
    return meter.effectiveNanos(state, offset, earliest);
  }

  /** Returns about how many bytes one more key will take. */
  long bytesToAdd() {
    long state = slab == null ? 0 : slab.bytesToAdd(table.fresh.length);
    return state + (full() ? bytes(larger()) - bytes(slots[0]) : 0);
  }

  private boolean full() {
    return size + 1 > mostKeys(slots[0]);
  }

  private static long mostKeys(long count) {
    return count <= SPARSE_SLOTS ? count / 2 : count * 4 / 5;
  }

  private long larger() {
    long count = slots[0];
    return count < SPARSE_SLOTS ? Math.max(FIRST_SLOTS, 2 * count) : count + count / 8;
  }

  private long bytes(long count) {
    return count <= 1 ? 0 : HEADER_BYTES + count * width * Long.BYTES;
  }

  /**
   * Adds a key that is not here, with a copy of a state; a state whose length varies has an array
   * of its own.
   *
   * @return its slot
   */
  int add(long fingerprint, long[] s, int i, long nowNanos) {
    if (size >= FORGET_FROM && nowNanos != Meter.LONG_AGO) { // Nothing has reset by then.
      forget(nowNanos, FORGET_STEPS);
    }
    if (full()) {
      resize(larger());
    }
    int slot = -find(fingerprint);
    slots[slot] = fingerprint;
    if (slab != null) {
      slots[slot + 1] = stored(slab, fingerprint, s);
    } else {
      System.arraycopy(s, i, slots, slot + 1, width - 1);
    }
    size++;
    if (table.journal != null && s != table.fresh) {
      table.journal.state(imaged, fingerprint, false, s, i, slab == null ? width - 1 : s.length);
    }
    return slot;
  }

  /** Adds the cell of several keys as {@link #add} does. */
  int addCell(long fingerprint, long[] s, long nowNanos) {
    TableJournal journal = table.journal;
    if (journal != null) {
      journal.state(imaged, fingerprint, true, s, 0, slab == null ? width - 1 : s.length);
    }
    return add(fingerprint, s, 0, nowNanos);
  }

  /** Adds a key that is not here, with a fresh state. Returns its slot. */
  int addFresh(long fingerprint, long nowNanos) {
    return add(fingerprint, table.fresh, 0, nowNanos);
  }

  /** Takes over the times of a table before its keys are restored. */
  void restoreTimes(long floor, long latest) {
    floorNanos = floor;
    latestNanos = latest;
  }

  // Images. All of these methods need the lock, see Image.

  /**
   * Copies the keys for the image that is being taken, if it needs them and does not have them yet.
   * To be called before a change that would otherwise be missing from the image.
   */
  void copyFirst() {
    int number = table.imaging();
    if (imaged < number) {
      copied = copy();
      imaged = number;
    }
  }

  /** Returns whether no copy is needed. May be called without the lock. */
  boolean isImaged(int number) {
    return imaged >= number;
  }

  /** Returns the keys as they were when an image was begun: the copy, or the present ones. */
  SegmentCopy take(int number) {
    SegmentCopy taken = copied == null ? copy() : copied;
    copied = null;
    imaged = number;
    return taken;
  }

  /** Drops the copy for an image that no longer needs it. */
  void dropCopy() {
    copied = null;
  }

  private SegmentCopy copy() {
    return new SegmentCopy(
        width, slots.clone(), slab == null ? null : slab.copy(), bars == null ? null : bars.copy());
  }

  /** Replaces the state of a slot, if a step has returned another array. */
  void state(int slot, long[] s) {
    if (slab == null || slab.page(slots[slot + 1]) == s) {
      return;
    }
    long before = slots[slot + 1];
    if (Slab.blockLongs(slab.page(before)) == s.length) {
      System.arraycopy(s, 0, slab.page(before), (int) before, s.length);
    } else {
      slots[slot + 1] = stored(slab, slots[slot], s);
      free(slab, before);
    }
  }

  private boolean mayGrow() {
    return slab == null || budget.mayGrow(0);
  }

  /** Returns whether there is room for the state that a step has returned for a slot. */
  private boolean hasRoom(int slot, long[] s) {
    if (slab == null) {
      return true;
    }
    long[] page = slab.page(slots[slot + 1]);
    return page == s
        || s.length <= Slab.blockLongs(page)
        || budget.mayGrow(slab.bytesToAdd(s.length));
  }

  private long stored(Slab in, long fingerprint, long[] s) {
    long before = in.bytes();
    long place = in.add(fingerprint, meter.fitted(s));
    budget.grown(in.bytes() - before);
    return place;
  }

  private void free(Slab in, long place) {
    long before = in.bytes();
    long moved = in.free(place);
    if (moved != 0) {
      slots[find(moved) + 1] = place;
    }
    budget.grown(in.bytes() - before);
  }

  /** Records the state that a slot now has, after a step that wrote it at a caller's time. */
  void put(int slot, long[] s, long nowNanos) {
    state(slot, s);
    wrote(nowNanos);
  }

  /** Records the time of a state that was written in place, at a caller's time. */
  void wrote(long nowNanos) {
    latestNanos = Math.max(latestNanos, nowNanos);
  }

  /**
   * Charges permits that fit after a wait, to the state of a slot. States may have moved after it.
   */
  void charge(
      int slot, long effectiveNanos, long waitNanos, long permits, Policy policy, long nowNanos) {
    boolean mayGrow = mayGrow();
    long[] own = state(slot);
    int i = offset(slot);
    long[] s = meter.charge(own, i, effectiveNanos, waitNanos, permits, policy, mayGrow);
    if (mayGrow && !hasRoom(slot, s)) { // The state itself is unchanged if it grows.
      s = meter.charge(own, i, effectiveNanos, waitNanos, permits, policy, false);
    }
    put(slot, s, nowNanos);
    TableJournal journal = table.journal;
    if (journal != null) {
      long key = slots[slot];
      if (table.ofBuckets) {
        journal.bucket(imaged, key, effectiveNanos, slots[slot + 1]);
      } else if (!journal.charged(imaged, key, effectiveNanos, waitNanos, permits, policy)) {
        journalState(journal, slot);
      }
    }
  }

  /**
   * Counts permits in the state of a slot by {@link Meter#record}. States may have moved after it.
   */
  void record(
      int slot,
      long effectiveNanos,
      long atNanos,
      long permits,
      Policy asked,
      Policy admitting,
      long nowNanos) {
    boolean mayGrow = mayGrow();
    long[] own = state(slot);
    int i = offset(slot);
    long[] s = meter.record(own, i, effectiveNanos, atNanos, permits, asked, admitting, mayGrow);
    if (mayGrow && !hasRoom(slot, s)) {
      s = meter.record(own, i, effectiveNanos, atNanos, permits, asked, admitting, false);
    }
    put(slot, s, nowNanos);
    TableJournal journal = table.journal;
    if (journal != null) {
      long key = slots[slot];
      if (table.ofBuckets) {
        journal.bucket(imaged, key, effectiveNanos, slots[slot + 1]);
      } else if (!journal.recorded(
          imaged, key, effectiveNanos, atNanos, permits, asked, admitting)) {
        journalState(journal, slot);
      }
    }
  }

  /** Counts permits in the state of a slot by {@link Meter#owe}. States may have moved after it. */
  void owe(int slot, long effectiveNanos, long permits, Policy policy, long nowNanos) {
    if (!table.ofBuckets) {
      record(slot, effectiveNanos, effectiveNanos, permits, policy, policy, nowNanos);
      return;
    }
    put(
        slot,
        meter.owe(state(slot), offset(slot), effectiveNanos, permits, policy, false),
        nowNanos);
    TableJournal journal = table.journal;
    if (journal != null) {
      journal.bucket(imaged, slots[slot], effectiveNanos, slots[slot + 1]);
    }
  }

  private void journalState(TableJournal journal, int slot) {
    long[] s = table.copy(this, slot);
    journal.state(imaged, slots[slot], false, s, 0, s.length);
  }

  /** Gives permits back to the state of a slot by {@link Meter#refund}. */
  void refund(
      int slot, long latestNanos, long permits, long atNanos, Policy policy, long nowNanos) {
    put(
        slot,
        meter.refund(state(slot), offset(slot), latestNanos, permits, atNanos, policy),
        nowNanos);
    TableJournal journal = table.journal;
    if (journal != null) {
      long key = slots[slot];
      if (table.ofBuckets) {
        journal.bucket(imaged, key, latestNanos, slots[slot + 1]);
      } else if (!journal.refunded(imaged, key, latestNanos, permits, atNanos, policy)) {
        journalState(journal, slot);
      }
    }
  }

  /** Replaces the state of a slot by one that a journal has. */
  void overwrite(int slot, long[] s, long nowNanos) {
    if (slab == null) {
      System.arraycopy(s, 0, slots, slot + 1, width - 1);
    }
    put(slot, s, nowNanos);
  }

  /** Returns the number of the last image that has these keys, see {@link Journal}. */
  int epoch() {
    return imaged;
  }

  /** Begins to journal: what is here now has the given epoch's image. */
  void imaged(int epoch) {
    imaged = epoch;
  }

  /**
   * Bars a key: its charges after which it would have reset by {@code resetNanos} must keep their
   * permits.
   */
  void bar(long fingerprint, long resetNanos, long nowNanos) {
    long before = barBytes();
    Bars kept = bars == null ? new Bars() : bars;
    bars = kept;
    floorNanos = Math.max(floorNanos, kept.add(fingerprint, resetNanos, nowNanos));
    budget.grown(barBytes() - before);
    if (table.journal != null) {
      table.journal.barred(imaged, fingerprint, resetNanos, nowNanos);
    }
  }

  boolean barred(long fingerprint, long resetNanos) {
    return bars != null && resetNanos <= bars.untilNanos(fingerprint);
  }

  /** Drops the bars that are over. */
  void forgetBars(long nowNanos) {
    if (bars != null) {
      copyFirst();
      long before = barBytes();
      floorNanos = Math.max(floorNanos, bars.prune(nowNanos));
      bars = bars.size() == 0 ? null : bars;
      budget.grown(barBytes() - before);
    }
  }

  private long barBytes() {
    return bars == null ? 0 : bars.bytes();
  }

  /** Examines the next few slots and forgets keys that have reset. */
  void forget(long nowNanos, int steps) {
    int before = size;
    for (int step = 0; step < steps && size > 0; step++) {
      hand = next(hand);
      while (slots[hand] != 0 && resetAtNanos(hand) <= nowNanos) {
        floorNanos = Math.max(floorNanos, resetAtNanos(hand));
        remove(hand);
      }
    }
    budget.giveBack(before - size);
    if (5L * size < slots[0] && slots[0] > 1) {
      resize(slotsFor(size));
    }
  }

  /** Forgets a key, whether or not it still counts; returns whether it did. */
  boolean remove(long fingerprint, long nowNanos) {
    forgetIfReset(fingerprint, nowNanos);
    int slot = find(fingerprint);
    if (slot <= 0) {
      return false;
    }
    remove(slot);
    budget.giveBack(1);
    if (table.journal != null) {
      table.journal.removed(imaged, fingerprint);
    }
    return true;
  }

  /** Forgets a key if it has reset. */
  void forgetIfReset(long fingerprint, long nowNanos) {
    int slot = find(fingerprint);
    if (slot > 0 && resetAtNanos(slot) <= nowNanos) {
      floorNanos = Math.max(floorNanos, resetAtNanos(slot));
      remove(slot);
      budget.giveBack(1);
    }
  }

  /** Examines all slots and forgets keys that have reset, and drops the bars that are over. */
  void forget(long nowNanos) {
    forget(nowNanos, (int) slots[0]);
    forgetBars(nowNanos);
  }

  private long resetAtNanos(int slot) {
    return meter.resetAtNanos(state(slot), offset(slot));
  }

  /** Forgets everything, whether or not it still counts. */
  void clear() {
    copyFirst();
    forEach(table::released);
    budget.giveBack(size);
    budget.grown(-bytes());
    empty();
  }

  private int next(int slot) {
    int next = slot + width;
    return next < slots.length ? next : 1;
  }

  /** Frees a slot and closes the gap: keys that were displaced past it move back. [Knuth 6.4, R] */
  private void remove(int slot) {
    copyFirst();
    if (slab != null) {
      free(slab, slots[slot + 1]);
    }
    table.released(slots[slot]);
    int gap = slot;
    for (int used = next(gap); slots[used] != 0; used = next(used)) {
      int home = home(slots, width, slots[used]);
      boolean homeIsBetween = gap <= used ? gap < home && home <= used : gap < home || home <= used;
      if (!homeIsBetween) {
        System.arraycopy(slots, used, slots, gap, width);
        gap = used;
      }
    }
    slots[gap] = 0;
    size--;
  }

  private static long slotsFor(long keys) {
    return keys == 0
        ? 0
        : keys < SPARSE_SLOTS / 2 ? Math.max(FIRST_SLOTS, 3 * keys) : keys + keys / 3;
  }

  private void resize(long count) {
    long[] from = slots;
    budget.grown(bytes(count) - bytes(from[0]));
    allocate(count);
    size = 0;
    fill(from, slab, 0, 0);
  }

  /**
   * Takes the keys of an array whose bits under a mask have a given value. All moves of keys share
   * this loop, so that it is compiled already when a segment is split for the first time.
   */
  private void fill(long[] from, @Nullable Slab states, long mask, long wanted) {
    for (int slot = 1; slot < from.length; slot += width) {
      long fingerprint = from[slot];
      if (fingerprint != 0 && (fingerprint & mask) == wanted) {
        if (full()) {
          resize(larger());
        }
        int to = -find(fingerprint);
        System.arraycopy(from, slot, slots, to, width);
        if (slab != null && states != null && slab != states) {
          slots[to + 1] = slab.take(states, from[slot + 1]);
        }
        size++;
      }
    }
  }

  private void allocate(long count) {
    long[] s = NONE[width];
    if (count > 0) {
      s = new long[Math.toIntExact(1 + count * width)];
      s[0] = count;
    }
    VarHandle.releaseFence(); // Readers without a lock see the array's contents, or nothing.
    slots = s;
    hand = 1;
  }

  /** Parts this segment's keys by the next bit; from then on this segment stays empty. */
  Segment[] halves() {
    copyFirst();
    Segment[] halves = {new Segment(table, depth + 1), new Segment(table, depth + 1)};
    budget.grown(
        -bytes()); // Before the halves are counted, so that no new key is refused for both.
    long bit = 1L << (Long.SIZE - 1 - depth);
    int set = count(bit);
    for (Segment half : halves) {
      boolean first = half == halves[0];
      half.floorNanos = floorNanos;
      half.latestNanos = latestNanos;
      half.resize(slotsFor(first ? size - set : set));
      half.fill(slots, slab, bit, first ? 0 : bit);
      budget.grown(half.slabBytes());
    }
    if (bars != null) {
      bars.forEach(
          (fingerprint, until) ->
              halves[(fingerprint & bit) == 0 ? 0 : 1].bar(fingerprint, until, Meter.LONG_AGO));
    }
    empty();
    split = true;
    return halves;
  }

  /**
   * Returns how many keys have a bit. Half of them have, unless they were added in the order of
   * their fingerprints, as from an image.
   */
  private int count(long bit) {
    int count = 0;
    for (int slot = 1; slot < slots.length; slot += width) {
      count += (slots[slot] & bit) != 0 ? 1 : 0;
    }
    return count;
  }

  private void empty() {
    size = 0;
    bars = null;
    allocate(0);
    if (slab != null) {
      slab.clear();
    }
  }

  /**
   * Checks that every key can be found and is counted.
   *
   * @throws IllegalStateException if this segment is broken
   */
  void verify() {
    int counted = 0;
    for (int slot = 1; slot < slots.length; slot += width) {
      boolean used = slots[slot] != 0;
      counted += used ? 1 : 0;
      if (used && find(slots[slot]) != slot) {
        throw new IllegalStateException("slot " + slot + ": cannot be found");
      }
      if (used && slab != null && slab.owner(slots[slot + 1]) != slots[slot]) {
        throw new IllegalStateException("slot " + slot + ": another key's state");
      }
    }
    if (slab != null) {
      slab.verify(counted);
    }
    if (counted != size || size > mostKeys(slots[0])) {
      throw new IllegalStateException(
          "keys: " + counted + " (expected: " + size + ", in " + slots[0] + " slots" + ")");
    }
  }

  /**
   * Passes to the visitor every key between two fingerprints, as unsigned numbers, and its state.
   */
  void forEach(long first, long last, BiConsumer<Long, long[]> visitor) {
    Scatter order = new Scatter(slots, width);
    for (int slot = order.next(); slot > 0; slot = order.next()) {
      if (isBetween(first, slots[slot], last)) {
        visitor.accept(slots[slot], table.copy(this, slot));
      }
    }
  }

  private static boolean isBetween(long first, long fingerprint, long last) {
    return fingerprint != 0
        && Long.compareUnsigned(first, fingerprint) <= 0
        && Long.compareUnsigned(fingerprint, last) <= 0;
  }

  /** Forgets every key between two fingerprints, whether or not it still counts. */
  void drop(long first, long last) {
    copyFirst();
    int before = size;
    for (int slot = 1; slot < slots.length; ) {
      if (isBetween(first, slots[slot], last)) {
        if (table.journal != null) {
          table.journal.removed(imaged, slots[slot]);
        }
        remove(slot); // Another key may be here now, which has not been visited yet.
      } else {
        slot += width;
      }
    }
    budget.giveBack(before - size);
  }

  /** Passes to the consumer the fingerprint of every key. */
  void forEach(LongConsumer fingerprints) {
    for (int slot = 1; slot < slots.length; slot += width) {
      if (slots[slot] != 0) {
        fingerprints.accept(slots[slot]);
      }
    }
  }

  /** Returns the bytes of this segment's arrays, including the states. */
  long bytes() {
    return bytes(slots[0]) + slabBytes() + barBytes();
  }

  private long slabBytes() {
    return slab == null ? 0 : slab.bytes();
  }
}
