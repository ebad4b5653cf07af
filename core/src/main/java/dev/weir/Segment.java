package dev.weir;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a directory whose fingerprints begin alike: slots in an open-addressed array with
 * linear probing. A slot is a fingerprint and, beside it, the state, so that a decision finds both
 * in one cache line; or, if states have no fixed length, the state's place in a slab. A state has a
 * part for each table of the directory.
 *
 * <p>A writer holds the write lock. A reader may read under an optimistic stamp instead: the values
 * may then be anything until the stamp is validated, but reading them does no harm.
 */
final class Segment extends SequenceLock {
  /*
   * How do segments grow? A slot's home is a fraction of the array, not a mask, so the array may
   * have any length: a large one grows by an eighth, and 71 to 80 % of its slots are always in use.
   * The work of one growth is bounded, because a segment of MAX_SLOTS, or one with a large slab, no
   * longer grows but is split in two by the next bit of the fingerprints (Directory.split). So a
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
  static final int WIDTH_BITS = 3; // Three parts of two words, and the fingerprint.

  /** The longs of a cache line. */
  private static final int LINE_LONGS = 8;

  /** The bytes of an array besides its elements, if the heap is below 32 GiB. */
  private static final int HEADER_BYTES = 16;

  /** Arrays without slots, by the width of a slot. */
  private static final long[][] NONE = new long[1 << WIDTH_BITS][];

  static {
    for (int width = 0; width < NONE.length; width++) {
      NONE[width] = new long[1 + width];
      NONE[width][0] = 1;
    }
  }

  /**
   * The latest instant of a change, beside the lock's own word: both are written for each
   * admission, and so in one cache line.
   */
  private long latestNanos = Meter.LONG_AGO;

  /** The same for the second and for the third table. */
  private long secondLatestNanos = Meter.LONG_AGO;

  private long thirdLatestNanos = Meter.LONG_AGO;

  /** The place of this segment in the order in which segments are locked together. */
  final long order = ORDERS.getAndIncrement();

  /** The number of first bits that all fingerprints here have in common. */
  final int depth;

  final Budget budget;
  private final Directory directory;
  private final Part[] parts;

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

  /** The properties of a table's part of all keys here. */
  private static final class Part {
    private final Table table;

    /** The charges that must keep their permits; most segments have none. */
    private @Nullable Bars bars;

    /** The number of the last image that has these keys, or that this segment is no part of. */
    private int imaged;

    /** The copy for an image that has not taken it yet. */
    private @Nullable SegmentCopy copied;

    private long lastResetNanos = Meter.LONG_AGO;

    private Part(Table table) {
      this.table = table;
      this.imaged = table.lastImage();
    }

    private long barBytes() {
      return bars == null ? 0 : bars.bytes();
    }
  }

  Segment(Directory directory, int depth) {
    this.directory = directory;
    this.depth = depth;
    this.budget = directory.budget;
    this.parts = directory.tables().stream().map(Part::new).toArray(Part[]::new);
    this.width = 1 + (directory.varies ? 1 : directory.fresh.length);
    this.slab = directory.varies ? new Slab() : null;
    this.slots = NONE[width];
  }

  Table table(int part) {
    return parts[part].table;
  }

  private Part part(Table table) {
    return parts[table.part];
  }

  /** Returns whether its halves have taken this segment's place. */
  boolean isSplit() {
    return split;
  }

  int size() {
    return size;
  }

  /** Returns whether this segment is too large to grow once more. */
  boolean isLarge() {
    return slots[0] >= MAX_SLOTS || (slab != null && slab.isLarge());
  }

  /** Splits this segment if it has become large; the caller must not hold its lock. */
  void splitIfLarge() {
    if (isLarge()) {
      directory.split(this);
    }
  }

  /** Returns the latest instant by which a state that was forgotten had reset. */
  long floorNanos() {
    return floorNanos;
  }

  /**
   * Returns the latest reset of a table's states that a store has read, or that count longer than
   * charges of their time do: because of a reservation or a debt.
   */
  long lastResetNanos(Table table) {
    return part(table).lastResetNanos;
  }

  /** Returns the latest time at which anything was put into a table here. */
  long latestNanos(Table table) {
    return switch (table.part) {
      case 0 -> latestNanos;
      case 1 -> secondLatestNanos;
      default -> thirdLatestNanos;
    };
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

  /** Reads memory where the state of a slot is, as far as a decision does, if it is elsewhere. */
  long touchState(int slot) {
    Slab states = slab;
    return states == null || slot <= 0 ? 0 : states.touch(place(slot));
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

  /**
   * Returns whether a key has a slot in which a table counts anything. The key is new to the table
   * otherwise.
   */
  boolean holds(Table table, int slot) {
    return slot > 0 && table.isHeld(state(slot), offset(table, slot));
  }

  /** Returns the array that holds the state of a slot. */
  long[] state(int slot) {
    return slab == null ? slots : slab.page(slots[slot + 1]);
  }

  /** Returns where in its array a table's part of the state of a slot begins. */
  int offset(Table table, int slot) {
    return offset(table, state(slot), place(slot));
  }

  /**
   * Returns where in its array a table's part of the state at a place begins, 0 if there is no
   * slot.
   */
  int offset(Table table, long[] state, long place) {
    if (table.part == 0 || place == 0) {
      return (int) place;
    }
    return (int) place + (slab == null ? table.start : Lengths.start(state[0], table.part));
  }

  /**
   * Returns the place of a slot's state: its low half is the offset in its array. May be called
   * without the lock: if the slot has just been moved, the place may not exist. 0 if there is no
   * slot.
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
   * Returns the array that holds the state of a slot at its place, or a table's fresh state if
   * there is no slot. May be called without the lock: null if the state has just been moved.
   */
  long @Nullable [] glimpse(Table table, int slot, long place) {
    if (slot <= 0) {
      return table.fresh;
    }
    if (slab != null) {
      return slab.glimpse(place);
    }
    long[] s = slots;
    return slot + width <= s.length ? s : null;
  }

  /** Returns a copy of a table's part of the state of a slot. */
  long[] copy(Table table, int slot) {
    return table.meter.copy(state(slot), offset(table, slot));
  }

  /**
   * Returns the instant at which a request for a key is decided. If the table counts nothing of the
   * key, that may have been forgotten: it had reset by {@code floorNanos}, and only a caller whose
   * own clock goes back can be earlier.
   */
  long effectiveNanos(Table table, long[] state, int offset, boolean held, long nowNanos) {
    long earliest = held ? nowNanos : Math.max(nowNanos, floorNanos);
    return table.meter.effectiveNanos(state, offset, earliest);
  }

  /** Returns about how many bytes one more key will take. */
  long bytesToAdd() {
    long state = slab == null ? 0 : slab.bytesToAdd(directory.lengths);
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
   * Adds a key of which a table counts nothing, with a copy of a state.
   *
   * @return its slot
   */
  int add(Table table, long fingerprint, long[] s, long nowNanos) {
    int slot = find(fingerprint);
    if (slot > 0) {
      state(table, slot, s);
      lasts(table, slot);
    } else if (s == table.fresh) {
      slot = addFresh(fingerprint, nowNanos);
    } else {
      long[] own = table.meter.fitted(s);
      long lengths = Lengths.with(directory.lengths, table.part, own.length);
      long[] whole =
          directory.isOfOne()
              ? own
              : Lengths.replaced(directory.fresh, 0, directory.lengths, table.part, own);
      slot = add(fingerprint, whole, lengths, nowNanos);
      lasts(table, slot);
    }
    if (table.journal != null && s != table.fresh) {
      table.journal.state(part(table).imaged, fingerprint, false, s, 0, s.length);
    }
    return slot;
  }

  /** Adds the cell of several keys as {@link #add} does. */
  int addCell(Table table, long fingerprint, long[] s, long nowNanos) {
    TableJournal journal = table.journal;
    if (journal != null) {
      journal.state(part(table).imaged, fingerprint, true, s, 0, s.length);
    }
    return add(table, fingerprint, s, nowNanos);
  }

  /** Adds a key that is not here, with a fresh state. Returns its slot. */
  int addFresh(long fingerprint, long nowNanos) {
    return add(fingerprint, directory.fresh, directory.lengths, nowNanos);
  }

  private int add(long fingerprint, long[] whole, long lengths, long nowNanos) {
    if (size >= FORGET_FROM && nowNanos != Meter.LONG_AGO) { // Nothing has reset by then.
      forget(nowNanos, FORGET_STEPS);
    }
    if (full()) {
      resize(larger());
    }
    int slot = -find(fingerprint);
    slots[slot] = fingerprint;
    if (slab != null) {
      slots[slot + 1] = stored(slab, fingerprint, whole, lengths);
    } else {
      System.arraycopy(whole, 0, slots, slot + 1, width - 1);
    }
    size++;
    return slot;
  }

  /** Takes over the times of a table before its keys are restored. */
  void restoreTimes(Table table, long floor, long latest) {
    floorNanos = floor;
    wrote(table, latest);
  }

  // Images. All of these methods need the lock, see Image.

  /**
   * Copies the keys for the images that are being taken, if they need them and do not have them
   * yet. To be called before a change that would otherwise be missing from an image.
   */
  void copyFirst() {
    for (Part part : parts) {
      copyFirst(part);
    }
  }

  /** Copies the keys for the image that is being taken of a table, as {@link #copyFirst()} does. */
  void copyFirst(Table table) {
    copyFirst(part(table));
  }

  private void copyFirst(Part part) {
    int number = part.table.imaging();
    if (part.imaged < number) {
      part.copied = copy(part);
      part.imaged = number;
    }
  }

  /** Returns whether no copy is needed. May be called without the lock. */
  boolean isImaged(Table table, int number) {
    return part(table).imaged >= number;
  }

  /** Returns the keys as they were when an image was begun: the copy, or the present ones. */
  SegmentCopy take(Table table, int number) {
    Part part = part(table);
    SegmentCopy taken = part.copied == null ? copy(part) : part.copied;
    part.copied = null;
    part.imaged = number;
    return taken;
  }

  /** Drops the copy for an image that no longer needs it. */
  void dropCopy(Table table) {
    part(table).copied = null;
  }

  private SegmentCopy copy(Part part) {
    return new SegmentCopy(
        part.table,
        width,
        slots.clone(),
        slab == null ? null : slab.copy(),
        part.bars == null ? null : part.bars.copy());
  }

  /** Replaces a table's part of the state of a slot, if a step has returned another array. */
  private void state(Table table, int slot, long[] s) {
    long[] page = state(slot);
    if (page == s) {
      return;
    }
    int offset = offset(table, slot);
    if (slab == null) {
      System.arraycopy(s, 0, slots, offset, s.length);
      return;
    }
    long[] own = table.meter.fitted(s);
    if (Lengths.of(page[0], table.part) == own.length) {
      System.arraycopy(own, 0, page, offset, own.length);
      return;
    }
    long before = slots[slot + 1];
    long[] whole =
        directory.isOfOne() ? own : Lengths.replaced(page, (int) before, page[0], table.part, own);
    long lengths = Lengths.with(page[0], table.part, own.length);
    slots[slot + 1] = stored(slab, slots[slot], whole, lengths);
    free(slab, before);
  }

  private boolean mayGrow() {
    return slab == null || budget.mayGrow(0);
  }

  /** Returns whether there is room for the state that a step has returned for a slot. */
  private boolean hasRoom(Table table, int slot, long[] s) {
    if (slab == null) {
      return true;
    }
    long[] page = slab.page(slots[slot + 1]);
    return page == s
        || s.length <= Lengths.of(page[0], table.part)
        || budget.mayGrow(slab.bytesToAdd(Lengths.with(page[0], table.part, s.length)));
  }

  private long stored(Slab in, long fingerprint, long[] whole, long lengths) {
    long before = in.bytes();
    long place = in.add(fingerprint, whole, lengths);
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
  private void put(Table table, int slot, long[] s, long nowNanos) {
    state(table, slot, s);
    wrote(table, nowNanos);
  }

  /** Measures again how long a table's states count, of which some may have gone. */
  void measure(Table table) {
    part(table).lastResetNanos = Meter.LONG_AGO;
    for (int slot = 1; slot < slots.length; slot += width) {
      if (slots[slot] != 0 && holds(table, slot)) {
        lasts(table, slot);
      }
    }
  }

  /** Records that the state of a slot may count longer than a charge of its time does. */
  void lasts(Table table, int slot) {
    Part part = part(table);
    part.lastResetNanos = Math.max(part.lastResetNanos, resetAtNanos(table, slot));
  }

  /** Records the time of a state that was written in place, at a caller's time. */
  void wrote(Table table, long nowNanos) {
    if (table.part == 0) {
      latestNanos = Math.max(latestNanos, nowNanos);
    } else if (table.part == 1) {
      secondLatestNanos = Math.max(secondLatestNanos, nowNanos);
    } else {
      thirdLatestNanos = Math.max(thirdLatestNanos, nowNanos);
    }
  }

  /**
   * Charges permits that fit after a wait, to the state of a slot. States may have moved after it.
   */
  void charge(
      Table table,
      int slot,
      long effectiveNanos,
      long waitNanos,
      long permits,
      Policy policy,
      long nowNanos) {
    Meter meter = table.meter;
    boolean mayGrow = mayGrow();
    long[] own = state(slot);
    int i = offset(table, slot);
    long[] s = meter.charge(own, i, effectiveNanos, waitNanos, permits, policy, mayGrow);
    if (mayGrow && !hasRoom(table, slot, s)) { // The state itself is unchanged if it grows.
      s = meter.charge(own, i, effectiveNanos, waitNanos, permits, policy, false);
    }
    put(table, slot, s, nowNanos);
    if (waitNanos > 0) {
      lasts(table, slot);
    }
    TableJournal journal = table.journal;
    if (journal != null && table.ofBuckets) {
      journalBucket(table, journal, slot, effectiveNanos);
    } else if (journal != null
        && !journal.charged(
            part(table).imaged, slots[slot], effectiveNanos, waitNanos, permits, policy)) {
      journalState(table, journal, slot);
    }
  }

  /**
   * Counts permits in the state of a slot by {@link Meter#record}. States may have moved after it.
   */
  void record(
      Table table,
      int slot,
      long effectiveNanos,
      long atNanos,
      long permits,
      Policy asked,
      Policy admitting,
      long nowNanos) {
    Meter meter = table.meter;
    boolean mayGrow = mayGrow();
    long[] own = state(slot);
    int i = offset(table, slot);
    long[] s = meter.record(own, i, effectiveNanos, atNanos, permits, asked, admitting, mayGrow);
    if (mayGrow && !hasRoom(table, slot, s)) {
      s = meter.record(own, i, effectiveNanos, atNanos, permits, asked, admitting, false);
    }
    put(table, slot, s, nowNanos);
    if (atNanos > nowNanos) {
      lasts(table, slot);
    }
    TableJournal journal = table.journal;
    if (journal != null && table.ofBuckets) {
      journalBucket(table, journal, slot, effectiveNanos);
    } else if (journal != null
        && !journal.recorded(
            part(table).imaged, slots[slot], effectiveNanos, atNanos, permits, asked, admitting)) {
      journalState(table, journal, slot);
    }
  }

  /** Counts permits in the state of a slot by {@link Meter#owe}. States may have moved after it. */
  void owe(Table table, int slot, long effectiveNanos, long permits, Policy policy, long nowNanos) {
    if (!table.ofBuckets) {
      record(table, slot, effectiveNanos, effectiveNanos, permits, policy, policy, nowNanos);
      return;
    }
    long[] own = state(slot);
    int i = offset(table, slot);
    long[] s = table.meter.owe(own, i, effectiveNanos, permits, policy, false);
    put(table, slot, s, nowNanos);
    lasts(table, slot);
    TableJournal journal = table.journal;
    if (journal != null) {
      journalBucket(table, journal, slot, effectiveNanos);
    }
  }

  /** Replaces the one word that is the state of a slot, which a {@link Gcra} has charged. */
  void bucket(Table table, int slot, long effectiveNanos, long state, long nowNanos) {
    slots[slot + 1] = state;
    latestNanos = Math.max(latestNanos, nowNanos); // Its part is the first.
    TableJournal journal = table.journal;
    if (journal != null) {
      journal.bucket(part(table).imaged, slots[slot], effectiveNanos, state);
    }
  }

  private void journalBucket(Table table, TableJournal journal, int slot, long effectiveNanos) {
    long bucket = state(slot)[offset(table, slot)];
    journal.bucket(part(table).imaged, slots[slot], effectiveNanos, bucket);
  }

  private void journalState(Table table, TableJournal journal, int slot) {
    long[] s = copy(table, slot);
    journal.state(part(table).imaged, slots[slot], false, s, 0, s.length);
  }

  /** Gives permits back to the state of a slot by {@link Meter#refund}. */
  void refund(
      Table table,
      int slot,
      long latestNanos,
      long permits,
      long atNanos,
      Policy policy,
      long nowNanos) {
    long[] own = state(slot);
    int i = offset(table, slot);
    long[] s = table.meter.refund(own, i, latestNanos, permits, atNanos, policy);
    put(table, slot, s, nowNanos);
    TableJournal journal = table.journal;
    if (journal != null && table.ofBuckets) {
      journalBucket(table, journal, slot, latestNanos);
    } else if (journal != null
        && !journal.refunded(
            part(table).imaged, slots[slot], latestNanos, permits, atNanos, policy)) {
      journalState(table, journal, slot);
    }
  }

  /** Renews a seat in the state of a slot by {@link Meter#renew}. */
  boolean renew(
      Table table, int slot, long latestNanos, long atNanos, long laterNanos, long nowNanos) {
    long[] s = state(slot);
    if (!table.meter.renew(s, offset(table, slot), latestNanos, atNanos, laterNanos)) {
      return false;
    }
    put(table, slot, s, nowNanos);
    if (laterNanos > 0) {
      lasts(table, slot);
    }
    if (table.journal != null) {
      journalState(table, table.journal, slot);
    }
    return true;
  }

  /** Replaces a table's part of the state of a slot by one that a journal has. */
  void overwrite(Table table, int slot, long[] s, long nowNanos) {
    put(table, slot, s, nowNanos);
    lasts(table, slot);
  }

  /** Begins to journal a table: what is here now has the given epoch's image. */
  void imaged(Table table, int epoch) {
    part(table).imaged = epoch;
  }

  /**
   * Bars a key: its charges after which it would have reset by {@code resetNanos} must keep their
   * permits.
   */
  void bar(Table table, long fingerprint, long resetNanos, long nowNanos) {
    Part part = part(table);
    long before = part.barBytes();
    Bars kept = part.bars == null ? new Bars() : part.bars;
    part.bars = kept;
    floorNanos = Math.max(floorNanos, kept.add(fingerprint, resetNanos, nowNanos));
    budget.grown(part.barBytes() - before);
    if (table.journal != null) {
      table.journal.barred(part.imaged, fingerprint, resetNanos, nowNanos);
    }
  }

  boolean barred(Table table, long fingerprint, long resetNanos) {
    Bars bars = part(table).bars;
    return bars != null && resetNanos <= bars.untilNanos(fingerprint);
  }

  /** Drops the bars that are over. */
  void forgetBars(long nowNanos) {
    for (Part part : parts) {
      Bars bars = part.bars;
      if (bars != null) {
        copyFirst(part);
        long before = part.barBytes();
        floorNanos = Math.max(floorNanos, bars.prune(nowNanos));
        part.bars = bars.size() == 0 ? null : bars;
        budget.grown(part.barBytes() - before);
      }
    }
  }

  private long barBytes() {
    long bytes = 0;
    for (Part part : parts) {
      bytes += part.barBytes();
    }
    return bytes;
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

  /**
   * Forgets what a table counts of a key, whether or not it still counts; returns whether it did.
   */
  boolean remove(Table table, long fingerprint, long nowNanos) {
    forgetIfReset(table, fingerprint, nowNanos);
    int slot = find(fingerprint);
    if (!holds(table, slot)) {
      return false;
    }
    removePart(table, slot);
    if (table.journal != null) {
      table.journal.removed(part(table).imaged, fingerprint);
    }
    return true;
  }

  /** Forgets what a table counts of a key if that has reset. */
  void forgetIfReset(Table table, long fingerprint, long nowNanos) {
    int slot = find(fingerprint);
    if (holds(table, slot) && resetAtNanos(table, slot) <= nowNanos) {
      floorNanos = Math.max(floorNanos, resetAtNanos(table, slot));
      removePart(table, slot);
    }
  }

  /** Makes a table's part of a state fresh, and frees the slot if all parts of it are. */
  private void removePart(Table table, int slot) {
    if (!directory.isOfOne()) {
      copyFirst();
      table.released(slots[slot]);
      state(table, slot, table.fresh);
      for (Part part : parts) {
        if (holds(part.table, slot)) {
          return;
        }
      }
    }
    remove(slot);
    budget.giveBack(1);
  }

  /** Examines all slots and forgets keys that have reset, and drops the bars that are over. */
  void forget(long nowNanos) {
    forget(nowNanos, (int) slots[0]);
    forgetBars(nowNanos);
  }

  private long resetAtNanos(Table table, int slot) {
    return table.meter.resetAtNanos(state(slot), offset(table, slot));
  }

  /** Returns the instant at which all parts of a slot's state have reset. */
  private long resetAtNanos(int slot) {
    long latest = Long.MIN_VALUE;
    for (Part part : parts) {
      latest = Math.max(latest, resetAtNanos(part.table, slot));
    }
    return latest;
  }

  /** Forgets everything that a table counts, whether or not it still counts. */
  void clear(Table table) {
    if (directory.isOfOne()) {
      clear();
      return;
    }
    drop(table, 0, -1, false);
    Part part = part(table);
    budget.grown(-part.barBytes());
    part.bars = null;
    if (size == 0) {
      resize(0);
    }
  }

  /** Gives up this segment, whose keys are in another directory now, as after a split. */
  void giveUp() {
    clear();
    split = true;
  }

  /** Passes to the sink the bars of a table's keys. */
  void forEachBar(Table table, Bars.Sink<RuntimeException> sink) {
    Bars bars = part(table).bars;
    if (bars != null) {
      bars.forEach(sink);
    }
  }

  /** Forgets all keys, whether or not they still count. */
  void clear() {
    copyFirst();
    for (int slot = 1; slot < slots.length; slot += width) {
      release(slot);
    }
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
    release(slot);
    if (slab != null) {
      free(slab, slots[slot + 1]);
    }
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

  /** Records for each table that counts a key, which may be a cell, that it no longer does. */
  private void release(int slot) {
    for (Part part : parts) {
      if (slots[slot] != 0 && holds(part.table, slot)) {
        part.table.released(slots[slot]);
      }
    }
  }

  private static long slotsFor(long keys) {
    return keys == 0
        ? 0
        : keys < SPARSE_SLOTS / 2 ? Math.max(FIRST_SLOTS, 3 * keys) : keys + keys / 3;
  }

  private void resize(long count) {
    long[] from = slots;
    allocate(count);
    budget.grown(bytes(count) - bytes(from[0]));
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
    Segment[] halves = {new Segment(directory, depth + 1), new Segment(directory, depth + 1)};
    budget.grown(
        -bytes()); // Before the halves are counted, so that no new key is refused for both.
    long bit = 1L << (Long.SIZE - 1 - depth);
    int set = count(bit);
    for (Segment half : halves) {
      boolean first = half == halves[0];
      half.floorNanos = floorNanos;
      for (Part part : parts) {
        half.wrote(part.table, latestNanos(part.table));
        half.part(part.table).lastResetNanos = part.lastResetNanos;
      }
      half.resize(slotsFor(first ? size - set : set));
      half.fill(slots, slab, bit, first ? 0 : bit);
      budget.grown(half.slabBytes());
    }
    for (Part part : parts) {
      if (part.bars != null) {
        part.bars.forEach(
            (fingerprint, until) ->
                halves[(fingerprint & bit) == 0 ? 0 : 1].bar(
                    part.table, fingerprint, until, Meter.LONG_AGO));
      }
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
    for (Part part : parts) {
      part.bars = null;
    }
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
   * Passes to the visitor every key between two fingerprints, as unsigned numbers, of which a table
   * counts anything, and that part of its state.
   */
  void forEach(Table table, long first, long last, BiConsumer<Long, long[]> visitor) {
    Scatter order = new Scatter(slots, width);
    for (int slot = order.next(); slot > 0; slot = order.next()) {
      if (isBetween(first, slots[slot], last) && holds(table, slot)) {
        visitor.accept(slots[slot], copy(table, slot));
      }
    }
  }

  private static boolean isBetween(long first, long fingerprint, long last) {
    return fingerprint != 0
        && Long.compareUnsigned(first, fingerprint) <= 0
        && Long.compareUnsigned(fingerprint, last) <= 0;
  }

  /**
   * Forgets what a table counts of every key between two fingerprints, whether or not it still
   * counts.
   */
  void drop(Table table, long first, long last) {
    drop(table, first, last, true);
  }

  private void drop(Table table, long first, long last, boolean journaled) {
    copyFirst();
    for (int slot = 1; slot < slots.length; ) {
      long fingerprint = slots[slot];
      if (isBetween(first, fingerprint, last) && holds(table, slot)) {
        if (journaled && table.journal != null) {
          table.journal.removed(part(table).imaged, fingerprint);
        }
        removePart(table, slot);
        slot += slots[slot] == fingerprint ? width : 0; // Another key may be here now.
      } else {
        slot += width;
      }
    }
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
