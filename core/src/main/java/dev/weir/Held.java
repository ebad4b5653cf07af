package dev.weir;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One charge's key, held: everything a decision needs of it between locking and unlocking. Used
 * again and again.
 */
final class Held {
  private static final Lineage.Member[] NO_MEMBERS = {};
  private static final long[] NO_STATE = {};

  private @Nullable MemoryLimit limit;
  private @Nullable Lineage lineage;
  private Lineage.Member[] members = NO_MEMBERS;
  private int primary;
  private boolean cellsLocked;
  private long[] state = NO_STATE;
  private int at;
  private boolean known;
  private boolean sketched;
  private int taken;
  long fingerprint;
  long permits;
  long effectiveNanos;

  void hold(MemoryLimit limit, long fingerprint, long permits) {
    this.limit = limit;
    this.lineage = limit.lineage;
    this.fingerprint = MemoryStore.nonZero(fingerprint);
    this.permits = Math.min(permits, Meter.MOST_PERMITS);
    this.sketched = false;
    this.taken = 0;
  }

  /** Lets go of what need not stay in memory. */
  void release() {
    limit = null;
    lineage = null;
    members = NO_MEMBERS;
    state = NO_STATE;
  }

  private Policy policy() {
    return Objects.requireNonNull(limit).policy();
  }

  private Lineage lineage() {
    return Objects.requireNonNull(lineage);
  }

  /** Reads which tables count, before their segments are locked. */
  void aim(long now) {
    members = lineage().members();
    for (primary = find(); primary < 0; primary = find()) {
      lineage = Objects.requireNonNull(limit).reopened(lineage(), now);
      members = lineage.members();
    }
  }

  private int find() {
    Shape shape = Objects.requireNonNull(limit).shape();
    for (int i = 0; i < members.length; i++) {
      if (members[i].table().shape.equals(shape)) {
        return i;
      }
    }
    return -1;
  }

  /** Adds the segments in which this key is counted, or may be. */
  void addTo(Locks locks) {
    cellsLocked = policy().whenFull() == FullAnswer.SKETCH || sketching();
    for (Lineage.Member member : members) {
      Table table = member.table();
      locks.add(table.segment(fingerprint));
      if (cellsLocked) {
        locks.add(table.segment(table.cell(fingerprint)));
      }
    }
  }

  private boolean sketching() {
    for (Lineage.Member member : members) {
      if (member.table().sketching()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether what is locked is still what counts. */
  boolean current() {
    return lineage().members() == members && (cellsLocked || !sketching());
  }

  boolean sameKey(Held other) {
    return fingerprint == other.fingerprint && lineage == other.lineage;
  }

  private Table table() {
    return members[primary].table();
  }

  private Meter meter() {
    return table().meter;
  }

  private Segment segment() {
    return table().segment(fingerprint);
  }

  /** Looks the key up; one that is new here starts with what the witnesses know. */
  void look(long now) {
    Segment segment = segment();
    int slot = segment.find(fingerprint);
    known = slot > 0;
    if (known) {
      see(segment, slot);
      effectiveNanos = meter().effectiveNanos(state, at, now);
    } else {
      state = members.length == 1 ? fresh() : seeded(primary, now);
      at = 0;
      effectiveNanos = meter().effectiveNanos(state, at, Math.max(now, segment.floorNanos()));
    }
  }

  /** Forgets the key; returns whether there was anything to forget. */
  boolean forget() {
    boolean found = false;
    for (Lineage.Member member : members) {
      found |= member.table().segment(fingerprint).remove(fingerprint);
    }
    return found;
  }

  private void see(Segment segment, int slot) {
    state = segment.state(slot);
    at = segment.stateAt(slot);
  }

  /**
   * Returns what a new key starts with if no rule has changed: its cell's state if that is live.
   */
  private long[] fresh() {
    long[] cell = cell(primary);
    return cell == null ? table().fresh : cell;
  }

  /** Returns a copy of what table {@code i} knows of the key, be it in its slot or in its cell. */
  private long @Nullable [] known(int i) {
    long[] own = known(i, fingerprint);
    return own == null ? cell(i) : own;
  }

  private long @Nullable [] cell(int i) {
    Table table = members[i].table();
    return table.sketching() ? known(i, table.cell(fingerprint)) : null;
  }

  private long @Nullable [] known(int i, long wanted) {
    Table table = members[i].table();
    Segment segment = table.segment(wanted);
    int slot = segment.find(wanted);
    return slot < 0 ? null : table.copy(segment, slot);
  }

  private boolean hasSlot(int i) {
    return members[i].table().segment(fingerprint).find(fingerprint) > 0;
  }

  /** Returns what the other tables know of a key that has no slot in table {@code i}. */
  private long[] seeded(int i, long now) {
    Lineage.Member target = members[i];
    Meter meter = target.table().meter;
    Policy asked = i == primary ? policy() : target.widest(now);
    int complete = completeWitness(i);
    long[] cell = cell(i);
    long[][] seed = {cell == null ? meter.fresh() : cell};
    for (int j = 0; j < members.length; j++) {
      long[] witness = j == i || (complete >= 0 && j != complete) ? null : known(j);
      if (witness != null) {
        Meter from = members[j].table().meter;
        Policy widest = members[j].widest(now);
        from.outline(
            witness,
            0,
            from.effectiveNanos(witness, 0, now),
            widest,
            (at, permits) ->
                seed[0] =
                    meter.force(seed[0], 0, Math.min(at, now), at, permits, asked, widest, true));
      }
    }
    return seed[0];
  }

  /**
   * Returns a witness that knows everything in the window of table {@code i}, the exact one if
   * there is a choice, or -1: then what all of them know is added up, which can only deny.
   */
  private int completeWitness(int i) {
    Shape wanted = members[i].table().shape;
    int best = -1;
    for (int j = 0; j < members.length; j++) {
      Shape shape = members[j].table().shape;
      if (j != i
          && shape.strict()
          && shape.windowNanos() >= wanted.windowNanos()
          && known(j) != null
          && (best < 0 || shape.algorithm() == Algorithm.SLIDING_WINDOW_LOG)) {
        best = j;
      }
    }
    return best;
  }

  long waitNanos(long alsoPermits) {
    long wanted = Math.min(permits + alsoPermits, Meter.MOST_PERMITS);
    return meter().waitNanos(state, at, effectiveNanos, wanted, policy());
  }

  long queueNanos() {
    return meter().queueNanos(state, at, effectiveNanos, permits, policy());
  }

  /**
   * Takes room for the slots that a charge would add, if need be by forgetting rested keys, or
   * turns to the sketch. While a rule changes there is no sketch: what a cell does not yet know of
   * the key's past would have to be added to it again and again.
   */
  boolean takeRoom(long now) {
    if (tookRoom()) {
      return true;
    }
    for (Lineage.Member member : members) {
      member.table().segment(fingerprint).forget(now, MemoryStore.FORGET_WHEN_FULL);
      member.table().forgetElsewhere(now, MemoryStore.FORGET_WHEN_FULL);
    }
    boolean room = tookRoom();
    sketched = !room && members.length == 1 && policy().whenFull() == FullAnswer.SKETCH;
    return room || sketched;
  }

  private boolean tookRoom() {
    int slots = 0;
    long bytes = 0;
    for (int i = 0; i < members.length; i++) {
      if (!hasSlot(i)) {
        slots++;
        bytes += members[i].table().segment(fingerprint).bytesToAdd();
      }
    }
    boolean room = slots == 0 || lineage().budget().take(slots, bytes);
    taken = room ? slots : 0;
    return room;
  }

  void giveRoomBack() {
    lineage().budget().giveBack(taken);
    taken = 0;
  }

  /** Charges here and records with the witnesses. */
  void charge(long wait, long now) {
    if (members.length == 1) {
      chargeOwn(wait, now);
    } else {
      chargeAll(wait, now);
    }
    giveRoomBack(); // A key that is asked for twice takes one slot.
  }

  private void chargeOwn(long wait, long now) {
    Table table = table();
    long own = sketched ? table.cell(fingerprint) : fingerprint;
    Segment segment = table.segment(own);
    int slot = segment.find(own);
    if (slot < 0) {
      slot = segment.add(own, unslotted(), 0, now);
      if (sketched) {
        table.cellAdded();
        lineage().budget().force(1);
      } else {
        taken--;
      }
    }
    see(segment, slot);
    boolean mayGrow = table.meter.words() > 0 || table.budget.mayGrow();
    long[] after = table.meter.charge(state, at, effectiveNanos, wait, permits, policy(), mayGrow);
    put(segment, slot, after, now);
  }

  /** Returns the state of the key, which has no slot: not yet, or because it had rested. */
  private long[] unslotted() {
    return known ? table().fresh : state;
  }

  private void put(Segment segment, int slot, long[] after, long now) {
    segment.state(slot, after);
    segment.latestNanos(now);
    state = after;
  }

  private void chargeAll(long wait, long now) {
    // What a witness lacks it learns from the others, before they know of this charge.
    long[][] seeds = new long[members.length][];
    for (int i = 0; i < seeds.length; i++) {
      seeds[i] = hasSlot(i) ? NO_STATE : i == primary ? unslotted() : seeded(i, now);
    }
    long[] mine = state;
    int mineAt = at;
    for (int i = 0; i < seeds.length; i++) {
      Segment segment = members[i].table().segment(fingerprint);
      int slot = segment.find(fingerprint);
      if (slot < 0) {
        slot = segment.add(fingerprint, seeds[i], 0, now);
        taken--;
      }
      see(segment, slot);
      put(segment, slot, i == primary ? charged(wait) : recorded(members[i], wait, now), now);
      if (i == primary) {
        mine = state;
        mineAt = at;
      }
    }
    state = mine;
    at = mineAt;
  }

  private long[] charged(long wait) {
    return meter()
        .charge(state, at, effectiveNanos, wait, permits, policy(), table().budget.mayGrow());
  }

  private long[] recorded(Lineage.Member member, long wait, long now) {
    Table table = member.table();
    long then = effectiveNanos + wait;
    return table.meter.force(
        state,
        at,
        effectiveNanos,
        then,
        permits,
        member.widest(now),
        policy(),
        table.budget.mayGrow());
  }

  long remaining() {
    return Math.min(policy().burst(), meter().remaining(state, at, effectiveNanos, policy()));
  }

  /** Returns when the key will be as good as new, counted from {@code from}. */
  long resetNanos(long from) {
    return Math.max(from, meter().restedAtNanos(state, at)) - from;
  }

  /**
   * Gives back in the table that charged, and in no witness: those may keep too much. At the latest
   * time known here: how much a charge still weighs must not grow with a clock that goes back.
   */
  long refund(Decision charged, long now) {
    Segment segment = segment();
    int slot = segment.find(fingerprint);
    boolean samePrice = !policy().algorithm().bucket() || charged.limit() == policy().burst();
    long reset = charged.atNanos() + charged.resetAfterNanos();
    if (slot < 0 || permits < 0 || !samePrice || segment.barred(fingerprint, reset)) {
      return 0;
    }
    see(segment, slot);
    Meter meter = meter();
    long latest = meter.effectiveNanos(state, at, Math.max(now, segment.latestNanos()));
    long given = meter.refundable(state, at, latest, permits, charged.atNanos(), reset, policy());
    if (given > 0) {
      long barred = meter.barredNanos(state, at, reset);
      if (barred != Meter.LONG_AGO) {
        segment.bar(fingerprint, barred);
      }
      put(segment, slot, meter.refund(state, at, latest, given, charged.atNanos(), policy()), now);
    }
    return given;
  }
}
