package dev.weir;

import org.jspecify.annotations.Nullable;

/**
 * The path of a request of one charge in the usual case; all other requests are left to {@link
 * SlowPath}.
 */
final class FastPath {
  /*
   * How does the fast path decide, and what does it share with the slow one? It takes four steps,
   * which the slow path takes as well, for several keys and under their locks:
   *
   *   step    here                                     SlowPath
   *   read    find, glimpse, effectiveNanos, waitNanos  LockedKey.find, check
   *   refuse  refused, then validate                    check, and nothing is charged
   *   claim   tryConvertToWriteLock, isSplit, current   lock, until LockedKey.current
   *   charge  charge                                    LockedKey.takeRoom, LockedKey.charge
   *
   * It reads under an optimistic stamp, so the values may be anything until the stamp is validated;
   * reading them does no harm (see Segment and Meter). A refusal and a peek need no lock at all:
   * processors that refuse one key all the time do not wait for each other. An admission turns the
   * stamp into the segment's lock, which succeeds only if no thread has written there since the
   * stamp was given; then the state that was read is the one that is charged. After some failed
   * tries it takes the lock before it reads.
   *
   * It leaves three rare cases to the slow path, as UNDECIDED: the name has several tables because
   * its policy has changed, or changes just now; there is no room for the key; a key without a slot
   * may have used permits, since cells of a sketch are in use or the past is not known. The slow
   * path then begins anew.
   *
   * Permits are given back with the same steps, always under the lock.
   *
   * A bucket whose key has state goes a shorter way first (BucketPath), which takes the same steps
   * over one word. The methods are small so that the compiler inlines them into one, and nothing is
   * allocated.
   */

  /**
   * The value for a request that has to take the slow path; it is not a decision. No wait has this
   * value.
   */
  static final long UNDECIDED = PackedDecision.OVERLOADED + 1;

  /** The number of tries to decide without waiting for the lock. */
  private static final int OPTIMISTIC_TRIES = 2;

  private FastPath() {}

  /**
   * Decides one charge.
   *
   * @param fingerprint not 0
   * @param hint the place where the key was found beforehand, as {@link Segment#hint} returns it
   * @param permitsOrPeek minus the permits for a peek
   * @param results receives the result as that of charge 0, or null
   * @return the decision, to be read by {@link PackedDecision}, or {@link #UNDECIDED}
   */
  static long decide(
      MemoryBinding binding,
      long fingerprint,
      int hint,
      long permitsOrPeek,
      long now,
      @Nullable Charges results) {
    TableView view = binding.view();
    Table table = view.only;
    if (table == null) {
      return UNDECIDED;
    }
    if (table.ofWords && permitsOrPeek > 0) {
      long packed =
          BucketPath.decide(binding, view, table, fingerprint, hint, permitsOrPeek, now, results);
      if (packed != UNDECIDED) {
        return packed;
      }
    }
    return byAnyMeter(binding, view, table, fingerprint, hint, permitsOrPeek, now, results);
  }

  private static long byAnyMeter(
      MemoryBinding binding,
      TableView view,
      Table table,
      long fingerprint,
      int hint,
      long permitsOrPeek,
      long now,
      @Nullable Charges results) {
    Policy policy = binding.policy();
    Meter meter = table.meter;
    long permits = Math.min(Math.abs(permitsOrPeek), Meter.MOST_PERMITS);
    for (int tries = 0; ; tries++) {
      Segment segment = table.segment(fingerprint);
      long stamp = tries < OPTIMISTIC_TRIES ? segment.tryOptimisticRead() : 0;
      boolean locked = stamp == 0;
      if (locked) {
        stamp = segment.writeLock();
      }
      try {
        int slot = segment.find(fingerprint, hint);
        long place = segment.place(slot);
        long[] state = segment.glimpse(table, slot, place);
        if (state == null) {
          continue;
        }
        int offset = segment.offset(table, state, place);
        boolean held = slot > 0 && table.isHeld(state, offset);
        long effective = segment.effectiveNanos(table, state, offset, held, now);
        long wait = meter.waitNanos(state, offset, effective, permits, policy);

        if (wait != 0 || permitsOrPeek <= 0) {
          long packed =
              wait == 0
                  ? fits(meter, state, offset, effective, policy, results)
                  : refused(meter, state, offset, effective, policy, results, wait, now);
          if (!segment.validate(stamp) || (segment.isSplit() && binding.isCurrent(view))) {
            continue;
          }
          boolean known = held || !table.isUnsure();
          return known && !segment.isSplit() ? packed : UNDECIDED;
        }

        if (!locked) {
          long claimed = segment.tryConvertToWriteLock(stamp);
          if (claimed == 0) {
            continue;
          }
          stamp = claimed;
          locked = true;
        }
        if (!binding.isCurrent(view)) {
          return UNDECIDED;
        }
        if (segment.isSplit()) {
          continue;
        }
        return !held && table.isUnsure()
            ? UNDECIDED
            : charge(table, segment, fingerprint, slot, effective, permits, policy, results, now);
      } finally {
        if (locked) {
          segment.unlockWrite(stamp);
          segment.splitIfLarge();
        }
      }
    }
  }

  /** Returns the refusal. */
  private static long refused(
      Meter meter,
      long[] state,
      int offset,
      long effective,
      Policy policy,
      @Nullable Charges results,
      long wait,
      long now) {
    long retry = SlowPath.retryAfterNanos(wait, effective - now);
    if (results != null) {
      long remaining = Math.min(policy.burst(), meter.remaining(state, offset, effective, policy));
      long reset = Math.max(effective, meter.resetAtNanos(state, offset)) - effective;
      results.result(0, Reason.OVER_LIMIT, remaining, retry, reset, effective);
    }
    return PackedDecision.refused(retry);
  }

  /** Returns the admission, for a state that has been charged or is only peeked at. */
  private static long fits(
      Meter meter,
      long[] state,
      int offset,
      long effective,
      Policy policy,
      @Nullable Charges results) {
    long remaining = Math.min(policy.burst(), meter.remaining(state, offset, effective, policy));
    if (results != null) {
      long reset = Math.max(effective, meter.resetAtNanos(state, offset)) - effective;
      results.result(0, Reason.WITHIN_LIMIT, remaining, 0, reset, effective);
    }
    return remaining;
  }

  /** Charges permits that fit; the segment's lock is held and the key's slot is still there. */
  private static long charge(
      Table table,
      Segment segment,
      long fingerprint,
      int found,
      long effective,
      long permits,
      Policy policy,
      @Nullable Charges results,
      long now) {
    int slot = found;
    if (slot <= 0) {
      if (!table.budget().take(1, segment.bytesToAdd())) {
        return UNDECIDED;
      }
      slot = segment.addFresh(fingerprint, now);
    }
    segment.charge(table, slot, effective, 0, permits, policy, now);
    long[] state = segment.state(slot);
    int offset = segment.offset(table, slot);
    return fits(table.meter, state, offset, effective, policy, results);
  }

  /**
   * Gives permits back, for {@link LocalStore#refund}.
   *
   * @param fingerprint not 0
   * @return how many permits were given back, or {@link #UNDECIDED}
   */
  static long refund(
      MemoryBinding binding, long fingerprint, long permits, Decision charged, long now) {
    TableView view = binding.view();
    Table table = view.only;
    if (table == null) {
      return UNDECIDED;
    }
    Segment segment = table.segment(fingerprint);
    long stamp = segment.writeLock();
    try {
      return binding.isCurrent(view) && !segment.isSplit()
          ? LockedKey.refund(table, segment, fingerprint, permits, binding.policy(), charged, now)
          : UNDECIDED;
    } finally {
      segment.unlockWrite(stamp);
    }
  }
}
