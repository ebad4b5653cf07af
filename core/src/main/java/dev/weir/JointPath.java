package dev.weir;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The path of a request of several charges in the usual case: every charge is of another name and
 * in another segment. All other requests are left to {@link SlowPath}. Reusable; not safe for use
 * by several threads.
 */
final class JointPath {
  /*
   * How does this path decide? It takes the steps of FastPath, each of them for all charges before
   * the next:
   *
   *   read    all states, each under the optimistic stamp of its segment
   *   refuse  validate all stamps: between the last read and the first validation there was an
   *           instant at which all states were as they were read
   *   claim   turn all stamps into locks; no thread waits for one here, so the order is free
   *   charge  all charges that fit
   *
   * So a request that is refused or only peeks locks nothing, whatever the number of its charges.
   * All that FastPath leaves to the slow path is left to it here as well. So is a request of two
   * charges of one name, which may be of the same key, or in one segment, which can be claimed only
   * once, and one for whose keys other threads have written at each try.
   *
   * The results of a read are kept as numbers; a reference that is stored in a long-lived object
   * costs a garbage collector's barrier, as much as the rest of a read. A segment is found once
   * more when it is claimed, and recognised by its order, which no other segment has.
   */

  /**
   * The number of tries to decide without waiting for a lock. The slow path holds locks for longer,
   * so a thread that takes it too soon makes others take it too.
   */
  private static final int TRIES = 8;

  /** The most charges: locks are held while all of them are written. */
  private static final int MOST_CHARGES = 8;

  private static final int WIDTH = 6;
  private static final int ORDER = 0;
  private static final int STAMP = 1;
  private static final int SLOT = 2;
  private static final int EFFECTIVE = 3;
  private static final int PART = 4;
  private static final int HELD = 5;

  private final long[] reads = new long[MOST_CHARGES * WIDTH];
  private final @Nullable Segment[] claimed = new Segment[MOST_CHARGES];

  /** True if a key of the present request found no room, or two are in one segment. */
  private boolean hopeless;

  /**
   * Decides a request of several charges, all of which belong to the store.
   *
   * @return false if it has to take the slow path; nothing is charged then
   */
  boolean decide(Charges charges, long now) {
    if (charges.size() > MOST_CHARGES || !isUsual(charges)) {
      return false;
    }
    hopeless = false;
    for (int tries = 0; tries < TRIES; tries++) {
      if (read(charges, now)) {
        boolean charged = charges.settle() && !charges.peeking();
        if (charged ? claimAndCharge(charges, now) : isValid(charges)) {
          return true;
        }
      }
      if (isUnusual(charges)) {
        return false;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /**
   * Returns whether a further try cannot succeed: a name has several tables, keys without a slot
   * may have permits that count, or there is no room.
   */
  private boolean isUnusual(Charges charges) {
    if (hopeless) {
      return true;
    }
    for (int i = 0; i < charges.size(); i++) {
      Table table = binding(charges, i).view().only;
      if (table == null || table.isUnsure()) {
        return true;
      }
    }
    return false;
  }

  private static MemoryBinding binding(Charges charges, int i) {
    return (MemoryBinding) charges.binding(i);
  }

  /** Returns whether each charge has a name of its own and may fit, and none is a report. */
  private static boolean isUsual(Charges charges) {
    if (charges.anyReports()) {
      return false;
    }
    for (int i = 0; i < charges.size(); i++) {
      if (charges.permits(i) < 0) {
        return false;
      }
      for (int j = 0; j < i; j++) {
        if (binding(charges, i).history == binding(charges, j).history) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isCharged(Charges charges, int i) {
    return charges.fits(i) && charges.permits(i) > 0;
  }

  /** Returns whether a table counts nothing of a key, which may have permits nevertheless. */
  private static boolean isUnsure(Table table, long held) {
    return held == 0 && table.isUnsure();
  }

  /** Reads all keys; returns false if one of them cannot be read now. */
  private boolean read(Charges charges, long now) {
    for (int i = 0; i < charges.size(); i++) {
      Table table = binding(charges, i).view().only;
      if (table == null || !read(charges, i, table, now)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Reads a key's state and sets the result of charge {@code i} by it, neither of which means
   * anything unless the stamp is valid afterwards.
   */
  private boolean read(Charges charges, int i, Table table, long now) {
    long fingerprint = MemoryStore.nonZero(charges.fingerprint(i));
    Segment segment = table.segment(fingerprint);
    long stamp = segment.tryOptimisticRead();
    int slot = segment.find(fingerprint);
    long place = segment.place(slot);
    long[] state = segment.glimpse(table, slot, place);
    if (stamp == 0 || state == null) {
      return false;
    }
    int offset = segment.offset(table, state, place);
    boolean held = slot > 0 && table.isHeld(state, offset);
    if (!held && table.isUnsure()) {
      return false;
    }
    long effective = segment.effectiveNanos(table, state, offset, held, now);
    reads[i * WIDTH + PART] = table.part;
    reads[i * WIDTH + HELD] = held ? 1 : 0;
    reads[i * WIDTH + ORDER] = segment.order;
    hopeless = isReadAgain(i);
    if (hopeless) {
      return false;
    }
    reads[i * WIDTH + STAMP] = stamp;
    reads[i * WIDTH + SLOT] = slot;
    reads[i * WIDTH + EFFECTIVE] = effective;
    Policy policy = charges.binding(i).policy();
    long permits = Math.min(charges.permits(i), Meter.MOST_PERMITS);
    long wait = table.meter.waitNanos(state, offset, effective, permits, policy);
    long retry = wait == 0 ? 0 : SlowPath.retryAfterNanos(wait, effective - now);
    result(charges, i, table.meter, state, offset, effective, retry);
    return true;
  }

  /** Returns whether an earlier charge is in the same segment: of a key in the same directory. */
  private boolean isReadAgain(int i) {
    for (int j = 0; j < i; j++) {
      if (reads[j * WIDTH + ORDER] == reads[i * WIDTH + ORDER]) {
        return true;
      }
    }
    return false;
  }

  /** Sets the result of charge {@code i} by a state, for a retry-after of 0 if it fits. */
  static void result(
      Charges charges, int i, Meter meter, long[] state, int offset, long effective, long retry) {
    Policy policy = charges.binding(i).policy();
    charges.result(
        i,
        retry == 0 ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
        Math.min(policy.burst(), meter.remaining(state, offset, effective, policy)),
        retry,
        Math.max(effective, meter.resetAtNanos(state, offset)) - effective,
        effective);
  }

  /** Returns the segment that was read, or null if the key is in another one by now. */
  private @Nullable Segment segment(Charges charges, int i) {
    long fingerprint = MemoryStore.nonZero(charges.fingerprint(i));
    Table table = binding(charges, i).view().only;
    if (table == null || isUnsure(table, reads[i * WIDTH + HELD])) {
      return null;
    }
    Segment segment = table.segment(fingerprint);
    return segment.order == reads[i * WIDTH + ORDER] && !segment.isSplit() ? segment : null;
  }

  /** Returns whether nothing was written since the keys were read. */
  private boolean isValid(Charges charges) {
    for (int i = 0; i < charges.size(); i++) {
      Segment segment = segment(charges, i);
      if (segment == null || !segment.validate(reads[i * WIDTH + STAMP])) {
        return false;
      }
    }
    return true;
  }

  private boolean claimAndCharge(Charges charges, long now) {
    int size = charges.size();
    int locked = 0;
    try {
      while (locked < size && claim(charges, locked)) {
        locked++;
      }
      if (locked < size || !isCurrent(charges)) {
        return false;
      }
      hopeless = !takeRoom(charges);
      if (hopeless) {
        return false;
      }
      for (int i = 0; i < size; i++) {
        if (isCharged(charges, i)) {
          charge(charges, i, now);
        }
      }
      return true;
    } finally {
      for (int i = 0; i < locked; i++) {
        claimed(i).unlockWrite(reads[i * WIDTH + STAMP]);
      }
      for (int i = 0; i < locked; i++) {
        Segment segment = claimed(i);
        claimed[i] = null;
        segment.splitIfLarge();
      }
    }
  }

  private Segment claimed(int i) {
    return Objects.requireNonNull(claimed[i]);
  }

  /** Locks the segment of a key if nothing was written since it was read. */
  private boolean claim(Charges charges, int i) {
    Segment segment = segment(charges, i);
    long stamp = segment == null ? 0 : segment.tryConvertToWriteLock(reads[i * WIDTH + STAMP]);
    if (stamp == 0) {
      return false;
    }
    claimed[i] = segment;
    reads[i * WIDTH + STAMP] = stamp;
    return true;
  }

  /** Returns whether the segments that are locked still count their keys. */
  private boolean isCurrent(Charges charges) {
    for (int i = 0; i < charges.size(); i++) {
      if (segment(charges, i) != claimed[i]) {
        return false;
      }
    }
    return true;
  }

  /** Takes room for all keys without a slot that are to be charged, or for none of them. */
  private boolean takeRoom(Charges charges) {
    for (int i = 0; i < charges.size(); i++) {
      if (needsRoom(charges, i) && !claimed(i).budget.take(1, claimed(i).bytesToAdd())) {
        for (int j = 0; j < i; j++) {
          if (needsRoom(charges, j)) {
            claimed(j).budget.giveBack(1);
          }
        }
        return false;
      }
    }
    return true;
  }

  private boolean needsRoom(Charges charges, int i) {
    return isCharged(charges, i) && reads[i * WIDTH + SLOT] <= 0;
  }

  private void charge(Charges charges, int i, long now) {
    Segment segment = claimed(i);
    long fingerprint = MemoryStore.nonZero(charges.fingerprint(i));
    long effective = reads[i * WIDTH + EFFECTIVE];
    long permits = Math.min(charges.permits(i), Meter.MOST_PERMITS);
    int slot = (int) reads[i * WIDTH + SLOT];
    if (slot <= 0) {
      slot = segment.addFresh(fingerprint, now);
    }
    Table table = segment.table((int) reads[i * WIDTH + PART]);
    segment.charge(table, slot, effective, 0, permits, charges.binding(i).policy(), now);
    int offset = segment.offset(table, slot);
    result(charges, i, table.meter, segment.state(slot), offset, effective, 0);
  }
}
