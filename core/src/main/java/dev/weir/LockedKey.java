package dev.weir;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The key of one charge while its segments are locked: its state is read and charged, and permits
 * are given back. Reusable; not safe for use by several threads.
 */
final class LockedKey {
  /*
   * Which segments are locked, and what do they hold of the key? A name has one table for each
   * shape that it had within its windows (see PolicyHistory). One of them, `deciding`, has the
   * binding's shape: its state decides. The others are witnesses: they are charged as well, so that
   * they have counted everything when their shape comes back, but they do not decide. A key can be
   * in some tables and not in others, because a table forgets it once its own state has reset.
   *
   * The steps of a LockedKey, all of them called by SlowPath:
   *
   *   hold         sets binding, fingerprint and permits
   *   readTables   reads which tables count; no lock is held yet
   *   addTo        names the segments to lock: the key's in every table, and its cell's if the
   *                tables sketch or may begin to
   *   isCurrent    with the locks held: returns whether those tables still are the ones that count
   *   find         reads the state that decides; a state that has reset counts as none
   *   waitNanos .. read that state
   *   takeRoom     takes room for the slots that a charge will add; giveRoomBack undoes it
   *   charge       charges the deciding table and records with the witnesses; `record` records
   *                with all of them, and `owe` counts a report as a debt
   *   release      drops all references
   *
   * Three cases make this harder than one state in one slot:
   *
   * 1. A key that is new to the deciding table, while there are witnesses, starts with what they
   *    count (seed). One that has counted the whole window is enough (completeWitness); without
   *    one, the counts of all of them are added up, which can only deny. When such a key is
   *    charged, every table that lacks it gets a slot, each seeded from the others before any of
   *    them counts the charge. The time at which a table forgets a key that has reset depends on
   *    how its segments were swept. Answers must not depend on it, so the key is first forgotten
   *    where it has reset.
   *
   * 2. When there is no room for a slot, the key may be counted in a cell, a slot that it shares
   *    with others (see Table). A key that is new while its cell is live starts with the cell's
   *    state, since part of that may be its own. There is no sketch while a change of rules is
   *    remembered: the part of the key's past that a cell has not counted would have to be added to
   *    it again and again.
   *
   * 3. One request can charge the same key twice. Each charge then has a LockedKey of its own on
   *    the same segments: check adds up their permits (isSameAs), and adding a key to a segment
   *    moves slots, so every slot is found anew before it is written.
   *
   * FastPath does the same for one key in one table whose segment is all there is to lock.
   */

  private static final ShapeTable[] NO_TABLES = {};
  private static final long[] NO_STATE = {};

  /**
   * The most charges of a log of which one call gives permits back: each is a pass over the log.
   */
  private static final int MAX_REFUNDED_CHARGES = 128;

  long fingerprint;
  long permits;

  /** The instant at which the key is decided, once it has been found. */
  long effectiveNanos;

  private @Nullable MemoryBinding binding;
  private @Nullable PolicyHistory history;
  private ShapeTable[] tables = NO_TABLES;
  private int deciding;
  private boolean cellsLocked;
  private long[] state = NO_STATE;
  private int offset;
  private boolean known;
  private boolean sketched;

  /** For each table, whether room was taken for a slot that is not there yet. */
  private boolean[] roomTaken = {};

  void hold(MemoryBinding binding, long fingerprint, long permits) {
    this.binding = binding;
    this.history = binding.history;
    this.fingerprint = MemoryStore.nonZero(fingerprint);
    this.permits = Math.min(permits, Meter.MOST_PERMITS);
    this.sketched = false;
    Arrays.fill(roomTaken, false);
  }

  /** Drops all references, so that they keep nothing in memory. */
  void release() {
    binding = null;
    history = null;
    tables = NO_TABLES;
    state = NO_STATE;
  }

  private MemoryBinding binding() {
    return Objects.requireNonNull(binding);
  }

  private PolicyHistory history() {
    return Objects.requireNonNull(history);
  }

  private Policy policy() {
    return binding().policy();
  }

  // The tables that count, and their locks.

  /** Reads which tables count, before their segments are locked. */
  void readTables(long now) {
    tables = history().tables();
    for (deciding = indexOfShape(); deciding < 0; deciding = indexOfShape()) {
      history = binding().reopened(history(), now);
      tables = history().tables();
    }
  }

  private int indexOfShape() {
    Shape shape = binding().shape();
    for (int i = 0; i < tables.length; i++) {
      if (table(i).shape.equals(shape)) {
        return i;
      }
    }
    return -1;
  }

  /** Adds the segments in which this key is counted, or may be counted. */
  void addTo(SegmentLocks locks) {
    cellsLocked = policy().whenFull() == FullMode.SKETCH || isUnsure();
    for (ShapeTable each : tables) {
      Table table = each.table();
      locks.add(table.segment(fingerprint));
      if (cellsLocked) {
        locks.add(table.segment(table.cell(fingerprint)));
      }
    }
  }

  private boolean isUnsure() {
    for (ShapeTable each : tables) {
      if (each.table().isUnsure()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the tables that were locked are still the ones that count. */
  boolean isCurrent() {
    return history().tables() == tables && (cellsLocked || !isUnsure());
  }

  boolean isSameAs(LockedKey other) {
    return fingerprint == other.fingerprint && history == other.history;
  }

  private Table table() {
    return table(deciding);
  }

  private Table table(int i) {
    return tables[i].table();
  }

  private Meter meter() {
    return table().meter;
  }

  // Reading.

  /** Finds the key; one that is new to the deciding table starts with what the witnesses count. */
  void find(long now) {
    if (tables.length > 1) {
      for (ShapeTable each : tables) {
        each.table().segment(fingerprint).forgetIfReset(each.table(), fingerprint, now);
      }
    }
    Segment segment = table().segment(fingerprint);
    int slot = segment.find(fingerprint);
    known = segment.holds(table(), slot);
    if (known) {
      read(segment, slot);
    } else {
      state = tables.length == 1 ? fresh() : seed(deciding, now);
      offset = 0;
    }
    long asked = known ? now : knownNanos(now);
    effectiveNanos = segment.effectiveNanos(table(), state, offset, known, asked);
  }

  /**
   * Returns the time, or, if it has gone back, the latest instant by which any table has forgotten
   * a state that had reset: charges of the key before that are no longer known here.
   */
  private long knownNanos(long now) {
    long latest = now;
    for (ShapeTable each : tables) {
      latest = Math.max(latest, each.table().segment(fingerprint).floorNanos());
    }
    return latest;
  }

  private void read(Segment segment, int slot) {
    state = segment.state(slot);
    offset = segment.offset(table(), slot);
  }

  /** Returns the state that a new key starts with if there are no witnesses. */
  private long[] fresh() {
    long[] counted = table().unslotted(fingerprint, policy());
    return counted == null ? table().fresh : counted;
  }

  /** Returns a copy of what table {@code i} counts for the key, in its slot or without one. */
  private long @Nullable [] copy(int i, long now) {
    Table table = table(i);
    Segment segment = table.segment(fingerprint);
    int slot = segment.find(fingerprint);
    return segment.holds(table, slot) ? segment.copy(table, slot) : counted(i, now);
  }

  /** Returns a copy of what table {@code i} counts for a key without a slot, or null. */
  private long @Nullable [] counted(int i, long now) {
    return table(i).unslotted(fingerprint, i == deciding ? policy() : tables[i].widest(now));
  }

  private boolean hasSlot(int i) {
    return table(i).segment(fingerprint).find(fingerprint) > 0;
  }

  private boolean isIn(int i) {
    Segment segment = table(i).segment(fingerprint);
    return segment.holds(table(i), segment.find(fingerprint));
  }

  /**
   * Returns the state, made from the other tables, of a key that has no slot in table {@code i}.
   */
  private long[] seed(int i, long now) {
    Policy asked = i == deciding ? policy() : tables[i].widest(now);
    int complete = completeWitness(i, now);
    long[] own = counted(i, now);
    Seed seed = new Seed(table(i).meter, own == null ? table(i).meter.fresh() : own, asked, now);
    for (int j = 0; j < tables.length; j++) {
      long[] witness = j == i || (complete >= 0 && j != complete) ? null : copy(j, now);
      if (witness != null) {
        seed.add(
            table(j).meter, witness, tables[j].widest(now), later(tables[j].lateNanos(), j, i));
      }
    }
    return seed.state;
  }

  /**
   * Returns how much later than it was charged a permit of table {@code from} has to count in table
   * {@code i}, because it may be spent later than that table allows for. Where windows begin by the
   * clock, that instant may be in the next one; then the rest of this one is refused. A seat counts
   * everywhere for its own hold, so it may also have to count earlier.
   */
  private long later(long lateNanos, int from, int i) {
    long later = Math.max(0, lateNanos - tables[i].lateNanos());
    Shape own = table(from).shape;
    Shape shape = table(i).shape;
    boolean seats =
        own.algorithm() == Algorithm.CONCURRENCY && shape.algorithm() == Algorithm.CONCURRENCY;
    return seats ? later + own.windowNanos() - shape.windowNanos() : later;
  }

  /** A state that is made of what other states still count. */
  private static final class Seed {
    private final Meter meter;
    private final Policy asked;
    private final long now;
    long[] state;

    Seed(Meter meter, long[] state, Policy asked, long now) {
      this.meter = meter;
      this.state = state;
      this.asked = asked;
      this.now = now;
    }

    /**
     * Adds what another state counts, each charge for an instant that is {@code later} nanoseconds
     * later.
     */
    void add(Meter from, long[] witness, Policy admitting, long later) {
      if (from instanceof SeatMeter seats && meter instanceof SeatMeter own) {
        seats.forEachSeat(
            witness,
            seats.effectiveNanos(witness, 0, now),
            (taken, since, permits) -> state = own.copySeat(state, taken, since + later, permits));
        return;
      }
      from.forEachCharge(
          witness,
          0,
          from.effectiveNanos(witness, 0, now),
          admitting,
          (charged, permits) -> {
            long at = charged + later;
            state = meter.record(state, 0, Math.min(at, now), at, permits, asked, admitting, true);
          });
    }
  }

  /**
   * Returns a witness that has counted everything in the window of table {@code i}, the exact one
   * if there is a choice, or -1. None has beside seats, which are renewed in no other table.
   */
  private int completeWitness(int i, long now) {
    Shape wanted = table(i).shape;
    int best = -1;
    for (ShapeTable each : tables) {
      if (each.table().shape.algorithm() == Algorithm.CONCURRENCY) {
        return best;
      }
    }
    for (int j = 0; j < tables.length; j++) {
      Shape shape = table(j).shape;
      if (j != i
          && shape.strict()
          && shape.windowNanos() >= wanted.windowNanos()
          && copy(j, now) != null
          && (best < 0 || shape.algorithm() == Algorithm.SLIDING_WINDOW_LOG)) {
        best = j;
      }
    }
    return best;
  }

  /** Returns how long until the permits fit, beside others that the request charges the key. */
  long waitNanos(long alsoPermits) {
    return waitNanosOf(permits + alsoPermits);
  }

  /** Returns how long until a number of permits fits. */
  long waitNanosOf(long count) {
    long wanted = Math.min(count, Meter.MOST_PERMITS);
    return paused(meter().waitNanos(state, offset, effectiveNanos, wanted, policy()));
  }

  long queueNanos() {
    return paused(meter().queueNanos(state, offset, effectiveNanos, permits, policy()));
  }

  private long paused(long wait) {
    return Pause.waitNanos(table().pauses(), fingerprint, effectiveNanos, wait);
  }

  long remaining() {
    return Math.max(0, balance());
  }

  /** Returns what remains; minus the debt, if more is counted than fits. */
  long balance() {
    if (paused(0) > 0) {
      return 0;
    }
    return Math.min(policy().burst(), meter().balance(state, offset, effectiveNanos, policy()));
  }

  /** Returns how long after {@code from} the key resets. */
  long resetAfterNanos(long from) {
    return Math.max(from, meter().resetAtNanos(state, offset)) - from;
  }

  // Room for new slots.

  /**
   * Takes room for the slots that a charge would add. If there is too little, it forgets keys that
   * have reset, or turns to the sketch.
   */
  boolean takeRoom(long now) {
    if (tookRoom()) {
      return true;
    }
    for (ShapeTable each : tables) {
      each.table().segment(fingerprint).forget(now, MemoryStore.FORGET_WHEN_FULL);
      each.table().directory.forgetElsewhere(now, MemoryStore.FORGET_WHEN_FULL);
    }
    boolean room = tookRoom();
    sketched = !room && tables.length == 1 && policy().whenFull() == FullMode.SKETCH;
    return room || sketched;
  }

  private boolean tookRoom() {
    if (roomTaken.length < tables.length) {
      roomTaken = new boolean[tables.length];
    }
    long bytes = 0;
    for (int i = 0; i < tables.length; i++) {
      if (!hasSlot(i)) {
        bytes += table(i).segment(fingerprint).bytesToAdd();
        if (!table(i).budget().take(1, bytes)) {
          giveRoomBack();
          return false;
        }
        roomTaken[i] = true;
      }
    }
    return true;
  }

  void giveRoomBack() {
    for (int i = 0; i < tables.length && i < roomTaken.length; i++) {
      if (roomTaken[i]) {
        table(i).budget().giveBack(1);
        roomTaken[i] = false;
      }
    }
  }

  /** Returns the slot of the key in table {@code i}, where it is added with a state if need be. */
  private int added(int i, long[] seed, long now) {
    Table table = table(i);
    Segment segment = table.segment(fingerprint);
    int slot = segment.find(fingerprint);
    if (segment.holds(table, slot)) {
      return slot;
    }
    if (slot <= 0 && !roomTaken[i]) {
      table.budget().add(1); // Its slot was there, and was freed for the slot of another key.
    }
    roomTaken[i] &= slot > 0;
    return segment.add(table, fingerprint, seed, now);
  }

  // Writing.

  /** A way to count permits in the deciding table. */
  private enum Step {
    CHARGE,
    RECORD,
    OWE
  }

  /** Charges the deciding table and records with the witnesses. */
  void charge(long wait, long now) {
    write(wait, now, Step.CHARGE);
  }

  /** Counts the permits in every table, whether they fit or not. */
  void record(long now) {
    write(0, now, Step.RECORD);
  }

  /** Counts the permits like {@link #record}, and as a debt in the deciding table. */
  void owe(long now) {
    write(0, now, Step.OWE);
  }

  private void write(long wait, long now, Step step) {
    if (tables.length == 1) {
      writeOnly(wait, now, step);
    } else {
      writeAll(wait, now, step);
    }
    giveRoomBack(); // A key that is charged twice takes one slot.
  }

  private void writeOnly(long wait, long now, Step step) {
    Table table = table();
    long own = sketched ? table.cell(fingerprint) : fingerprint;
    Segment segment = table.segment(own);
    int slot = sketched ? addedCell(segment, own, now) : added(0, unslotted(), now);
    decidingWrite(segment, slot, wait, now, step);
  }

  private int addedCell(Segment segment, long cell, long now) {
    Table table = table();
    int slot = segment.find(cell);
    if (segment.holds(table, slot)) {
      return slot;
    }
    table.cellAdded();
    if (slot <= 0) {
      table.budget().add(1);
    }
    return segment.addCell(table, cell, unslotted(), now);
  }

  private void decidingWrite(Segment segment, int slot, long wait, long now, Step step) {
    Table table = table();
    long at = effectiveNanos;
    switch (step) {
      case CHARGE -> segment.charge(table, slot, at, wait, permits, policy(), now);
      case RECORD -> segment.record(table, slot, at, at, permits, policy(), policy(), now);
      case OWE -> segment.owe(table, slot, at, permits, policy(), now);
    }
    read(segment, slot);
  }

  /** Returns the state of a key without a slot, which is new or had reset. */
  private long[] unslotted() {
    return known ? table().fresh : state;
  }

  private void writeAll(long wait, long now, Step step) {
    // A table without the key is seeded from the others before they count this charge.
    long[][] seeds = new long[tables.length][];
    for (int i = 0; i < seeds.length; i++) {
      seeds[i] = isIn(i) ? NO_STATE : i == deciding ? unslotted() : seed(i, now);
    }
    for (int i = 0; i < seeds.length; i++) {
      Table table = table(i);
      Segment segment = table.segment(fingerprint);
      int slot = added(i, seeds[i], now);
      if (i == deciding) {
        decidingWrite(segment, slot, wait, now, step);
      } else {
        long at = effectiveNanos + wait + later(policy().lateNanos, deciding, i);
        Policy widest = tables[i].widest(now);
        segment.record(table, slot, effectiveNanos, at, permits, widest, policy(), now);
      }
    }
  }

  /** Forgets the key in every table; returns whether any of them still counted something. */
  boolean reset(long now) {
    boolean found = false;
    for (ShapeTable each : tables) {
      found |= each.table().segment(fingerprint).remove(each.table(), fingerprint, now);
    }
    return found;
  }

  /**
   * Gives back permits of the key's newest charges, in the table that decides, but in no witness,
   * which may count too much.
   *
   * @return how many permits were given back
   */
  long refundNewest(long now) {
    Segment segment = table().segment(fingerprint);
    int slot = segment.find(fingerprint);
    if (!segment.holds(table(), slot)) {
      return 0;
    }
    // A permit costs least under the largest limit, so its price never frees more than was charged.
    Policy price = policy().algorithm().bucket() ? tables[deciding].widest(now) : policy();
    long given = 0;
    for (int i = 0; i < MAX_REFUNDED_CHARGES && given < permits; i++) {
      read(segment, slot);
      Meter meter = meter();
      long known = Math.max(segment.latestNanos(table()), segment.floorNanos());
      long latest = meter.effectiveNanos(state, offset, Math.max(now, known));
      long at = meter.newestChargeNanos(state, offset, latest);
      long reset = meter.resetAtNanos(state, offset);
      long more =
          at == Meter.LONG_AGO
              ? 0
              : meter.refundable(state, offset, latest, permits - given, at, reset, price);
      if (more == 0) {
        break;
      }
      segment.refund(table(), slot, latest, more, at, price, now);
      given += more;
    }
    return given;
  }

  /**
   * Gives permits back in the table that charged them, but in no witness, which may count too much;
   * a seat in all tables that have it, since it has one name. Decides at the latest time known
   * here, so that a clock that goes back does not raise what a charge still weighs.
   *
   * @return how many permits were given back
   */
  long refund(Decision charged, long now) {
    long given = refund(deciding, charged, now);
    for (int i = 0; i < tables.length; i++) {
      if (i != deciding && isSeats(i) && isSeats(deciding)) {
        given = Math.max(given, refund(i, charged, now));
      }
    }
    return given;
  }

  private boolean isSeats(int i) {
    return table(i).shape.algorithm() == Algorithm.CONCURRENCY;
  }

  private long refund(int i, Decision charged, long now) {
    Table table = table(i);
    Segment segment = table.segment(fingerprint);
    return refund(table, segment, fingerprint, permits, policy(), charged, now);
  }

  /** Gives permits back in one table; the segment's lock is held. */
  static long refund(
      Table table,
      Segment segment,
      long fingerprint,
      long permits,
      Policy policy,
      Decision charged,
      long now) {
    int slot = segment.find(fingerprint);
    boolean samePrice = !policy.algorithm().bucket() || charged.limit() == policy.burst();
    long resetAt = charged.atNanos() + charged.resetAfterNanos();
    boolean barred = segment.barred(table, fingerprint, resetAt);
    if (!segment.holds(table, slot) || !samePrice || barred) {
      return 0;
    }
    long[] own = segment.state(slot);
    int start = segment.offset(table, slot);
    long at = charged.atNanos();
    long known =
        Math.max(segment.latestNanos(table), segment.floorNanos()); // Of its keys, and bars.
    long latest = table.meter.effectiveNanos(own, start, Math.max(now, known));
    long given = table.meter.refundable(own, start, latest, permits, at, resetAt, policy);
    if (given > 0) {
      long until = table.meter.barredNanos(own, start, resetAt);
      if (until != Meter.LONG_AGO) {
        segment.bar(table, fingerprint, until, latest);
      }
      segment.refund(table, slot, latest, given, at, policy, now);
    }
    return given;
  }

  /** Renews a seat in all tables that have it; see {@link Meter#renew}. */
  boolean renew(Decision charged, long now) {
    boolean renewed = false;
    for (int i = 0; i < tables.length; i++) {
      renewed |= renew(i, charged, now);
    }
    return renewed;
  }

  private boolean renew(int i, Decision charged, long now) {
    Table table = table(i);
    Segment segment = table.segment(fingerprint);
    int slot = segment.find(fingerprint);
    if (!segment.holds(table, slot)) {
      return false;
    }
    long known = Math.max(segment.latestNanos(table), segment.floorNanos());
    long latest =
        table.meter.effectiveNanos(
            segment.state(slot), segment.offset(table, slot), Math.max(now, known));
    long later = later(policy().lateNanos, deciding, i);
    return segment.renew(table, slot, latest, charged.atNanos(), later, now);
  }
}
