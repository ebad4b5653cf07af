package dev.weir;

/**
 * The path of requests that {@link FastPath} leaves to it, and of everything else that needs a
 * key's lock.
 */
final class SlowPath {
  /*
   * All segments in which the request's keys are counted are locked, in the one order in which
   * every thread locks them; then every charge is checked, the request is settled, and either all
   * that fits is charged or nothing is. No thread ever sees half a request. The tables and segments
   * that count are read before they are locked, so they are read again afterwards: if they have
   * changed, everything is unlocked and begins anew. FastPath's essay shows which of its steps
   * corresponds to which here.
   */

  private static final Charges.Role[] ROLES = Charges.Role.values();

  private SlowPath() {}

  /** Decides a request of any number of charges, all of which belong to the store. */
  static void decide(Charges charges, Workspace work, long now) {
    int size = charges.size();
    LockedKey[] keys = work.keys(size);
    for (int i = 0; i < size; i++) {
      MemoryBinding binding = (MemoryBinding) charges.binding(i);
      keys[i].hold(binding, charges.fingerprint(i), charges.permits(i));
    }
    lock(work, size, now);
    try {
      for (int i = 0; i < size; i++) {
        check(charges, keys, i, now);
      }
      boolean allowed = charges.settle();
      if (!charges.peeking() && (allowed || charges.anyReports())) {
        charge(charges, keys, now);
      }
    } finally {
      unlock(work, size);
    }
  }

  /** Forgets what a key has used, for {@link LocalStore#reset}. */
  static boolean reset(MemoryBinding binding, long fingerprint, Workspace work, long now) {
    LockedKey key = work.keys(1)[0];
    key.hold(binding, fingerprint, 0);
    lock(work, 1, now);
    try {
      return key.reset(now);
    } finally {
      unlock(work, 1);
    }
  }

  /** Counts permits that were admitted elsewhere, for {@link MemoryStore#record}. */
  static Decision record(
      MemoryBinding binding, long fingerprint, long permits, Workspace work, long now) {
    LockedKey key = work.keys(1)[0];
    key.hold(binding, fingerprint, permits);
    lock(work, 1, now);
    try {
      key.find(now);
      boolean counted = permits == 0 || key.takeRoom(now);
      if (counted && permits > 0) {
        if (key.waitNanos(0) == 0) {
          key.charge(0, now);
        } else {
          key.record(now);
        }
      }
      Policy policy = binding.policy();
      long at = key.effectiveNanos;
      return new Decision(
          counted,
          counted ? Reason.WITHIN_LIMIT : Reason.KEY_SPACE_FULL,
          policy.name(),
          policy.burst(),
          counted ? key.remaining() : 0,
          counted ? 0 : policy.quota().windowNanos(),
          key.resetAfterNanos(at),
          at);
    } finally {
      unlock(work, 1);
    }
  }

  /** Gives permits back, for {@link LocalStore#refund}. */
  static long refund(
      MemoryBinding binding,
      long fingerprint,
      long permits,
      Decision charged,
      Workspace work,
      long now) {
    LockedKey key = work.keys(1)[0];
    key.hold(binding, fingerprint, permits);
    lock(work, 1, now);
    try {
      return key.refund(charged, now);
    } finally {
      unlock(work, 1);
    }
  }

  /** Renews a seat, for {@link LocalStore#renew}. */
  static boolean renew(
      MemoryBinding binding, long fingerprint, Decision charged, Workspace work, long now) {
    LockedKey key = work.keys(1)[0];
    key.hold(binding, fingerprint, 0);
    lock(work, 1, now);
    try {
      return key.renew(charged, now);
    } finally {
      unlock(work, 1);
    }
  }

  /** Gives back permits of the newest charges, for {@link LocalStore#refundNewest}. */
  static long refundNewest(
      MemoryBinding binding, long fingerprint, long permits, Workspace work, long now) {
    LockedKey key = work.keys(1)[0];
    key.hold(binding, fingerprint, permits);
    lock(work, 1, now);
    try {
      return key.refundNewest(now);
    } finally {
      unlock(work, 1);
    }
  }

  /**
   * Locks every segment in which the keys are counted, and repeats if they have changed meanwhile.
   */
  private static void lock(Workspace work, int size, long now) {
    LockedKey[] keys = work.keys(size);
    while (true) {
      for (int i = 0; i < size; i++) {
        keys[i].readTables(now);
        keys[i].addTo(work.locks);
      }
      boolean current = work.locks.lock();
      for (int i = 0; i < size; i++) {
        current &= keys[i].isCurrent();
      }
      if (current) {
        return;
      }
      work.locks.unlock();
    }
  }

  private static void unlock(Workspace work, int size) {
    work.locks.unlock();
    LockedKey[] keys = work.keys(size);
    for (int i = 0; i < size; i++) {
      keys[i].release();
    }
  }

  /** Checks whether charge {@code i} fits beside those before it; changes nothing. */
  private static void check(Charges charges, LockedKey[] keys, int i, long now) {
    LockedKey key = keys[i];
    key.find(now);
    long also = 0;
    for (int j = 0; j < i; j++) {
      if (keys[j].isSameAs(key) && (charges.fits(j) || isReport(charges, j))) {
        also += keys[j].permits;
      }
    }
    long at = key.effectiveNanos;
    long reset = key.resetAfterNanos(at);
    if (key.permits < 0) {
      charges.result(i, Reason.INVALID, key.remaining(), Decision.NEVER, reset, at);
      return;
    }
    boolean question = key.permits == 0 && charges.role(i).isReport();
    long wait =
        question
            ? key.waitNanosOf(1 + also)
            : key.permits == 0 ? 0 : charges.queued() ? key.queueNanos() : key.waitNanos(also);
    boolean fits = wait <= charges.maxWaitNanos();
    if (!fits && wait == Decision.NEVER && charges.queued()) {
      wait = key.waitNanos(also); // The queue is full: the wait is until it has room.
    }
    charges.result(
        i,
        fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
        Math.max(0, key.remaining() - also),
        fits ? wait : retryAfterNanos(wait, at - now),
        reset,
        at);
  }

  private static boolean isReport(Charges charges, int i) {
    return charges.anyReports() && charges.role(i).isReport();
  }

  /**
   * Charges what fits, or nothing at all if the request is refused for want of room; and every
   * report that there is room for.
   */
  private static void charge(Charges charges, LockedKey[] keys, long now) {
    int size = charges.size();
    for (Charges.Role role : ROLES) { // A shadow must not take the room of a charge that must fit.
      for (int i = 0; i < size; i++) {
        LockedKey key = keys[i];
        if (charges.role(i) == role && charges.counted(i) && !key.takeRoom(now)) {
          long retry = charges.binding(i).policy().quota().windowNanos();
          charges.result(i, Reason.KEY_SPACE_FULL, 0, retry, 0, key.effectiveNanos);
        }
      }
    }
    charges.settle();
    for (int i = 0; i < size; i++) {
      LockedKey key = keys[i];
      if (!charges.counted(i)) {
        key.giveRoomBack();
      } else if (isReport(charges, i)) {
        count(charges, i, key, now);
      } else {
        long wait = charges.retryAfterNanos(i);
        key.charge(wait, now);
        long at = key.effectiveNanos + wait;
        long fromNow = wait == 0 ? 0 : retryAfterNanos(wait, key.effectiveNanos - now);
        charges.result(
            i, Reason.WITHIN_LIMIT, key.remaining(), fromNow, key.resetAfterNanos(at), at);
      }
    }
  }

  /** Counts a report; the key's next permit then fits after the retry-after, if it has a debt. */
  private static void count(Charges charges, int i, LockedKey key, long now) {
    boolean fits = charges.fits(i);
    if (fits) {
      key.charge(0, now);
    } else {
      key.owe(now);
    }
    long at = key.effectiveNanos;
    charges.result(
        i,
        charges.reason(i),
        key.balance(),
        fits ? 0 : retryAfterNanos(key.waitNanosOf(1), at - now),
        key.resetAfterNanos(at),
        at);
  }

  /**
   * Returns a wait as it is for the caller, whose clock may be behind the key's time. If it is
   * centuries behind, the sum overflows and the answer is {@link Decision#NEVER}.
   */
  static long retryAfterNanos(long wait, long behind) {
    return behind < 0 || wait > Decision.NEVER - behind ? Decision.NEVER : wait + behind;
  }
}
