package dev.weir;

import org.jspecify.annotations.Nullable;

/**
 * The path of a request that charges several quotas of one key, whose tables share a {@link
 * Directory}, in the usual case: that of a limiter of two or three quotas. All other requests are
 * left to {@link JointPath} and {@link SlowPath}.
 */
final class ColocatedPath {
  /*
   * It takes the steps of FastPath, whose essay explains them, with one look-up, one stamp and one
   * lock for all quotas; and it leaves the same cases to the slow path.
   *
   * The parts of the tables are packed into one int, two bits each: which of a directory's tables a
   * name has never changes, while its history may get other tables at any time.
   */

  private static final int PART_BITS = 2;
  private static final int PART = (1 << PART_BITS) - 1;

  /** The number of tries to decide without waiting for the lock. */
  private static final int OPTIMISTIC_TRIES = 2;

  private ColocatedPath() {}

  /**
   * Decides a request whose charges are those of a limiter: of one key, each as many permits, and
   * all of them must fit.
   *
   * @param results is used meanwhile
   * @return false if it has to take another path; nothing is charged then
   */
  static boolean decide(Charges charges, long now, QuotaResults results) {
    int quotas = charges.size();
    if (quotas > Lengths.MOST_PARTS || !charges.areQuotasOfOneKey()) {
      return false;
    }
    Binding[] bindings = charges.bindings();
    long key = MemoryStore.nonZero(charges.fingerprint(0));
    if (!decide(bindings, quotas, key, charges.permits(0), charges.peeking(), now, results)) {
      return false;
    }
    for (int i = 0; i < quotas; i++) {
      charges.result(
          i,
          results.fits(i) ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
          results.remaining(i),
          results.retryAfterNanos(i),
          results.resetAfterNanos(i),
          results.atNanos(i));
    }
    charges.settle();
    return true;
  }

  /**
   * Decides a request that charges all quotas or none.
   *
   * @param bindings those of the quotas, of a {@link MemoryStore}
   * @param quotas how many of them there are, from the first on
   * @param permits at least 0
   * @param results receives a result for each quota
   * @return false if it has to take another path; nothing is charged then
   */
  static boolean decide(
      Binding[] bindings,
      int quotas,
      long fingerprint,
      long permits,
      boolean peeking,
      long now,
      QuotaResults results) {
    Table first = table(bindings, 0);
    if (first == null || first.directory.isOfOne()) {
      return false;
    }
    Directory directory = first.directory;
    int parts = 0;
    int seen = 0;
    for (int i = 0; i < quotas; i++) {
      Table table = table(bindings, i);
      if (table == null || table.directory != directory || (seen & 1 << table.part) != 0) {
        return false;
      }
      seen |= 1 << table.part;
      parts |= table.part << (PART_BITS * i);
    }
    long wanted = Math.min(permits, Meter.MOST_PERMITS);
    for (int tries = 0; ; tries++) {
      Segment segment = directory.segment(fingerprint);
      long stamp = tries < OPTIMISTIC_TRIES ? segment.tryOptimisticRead() : 0;
      boolean locked = stamp == 0;
      if (locked) {
        stamp = segment.writeLock();
      }
      try {
        int slot = segment.find(fingerprint);
        if (!read(bindings, quotas, directory, parts, segment, slot, wanted, now, results)) {
          if (segment.validate(stamp)) {
            return false;
          }
          continue;
        }
        boolean charged = !peeking && wanted > 0 && results.slowest(quotas) < 0;
        if (charged && !locked) {
          long claimed = segment.tryConvertToWriteLock(stamp);
          if (claimed == 0) {
            continue;
          }
          stamp = claimed;
          locked = true;
        } else if (!charged && !segment.validate(stamp)) {
          continue;
        }
        if (!isCurrent(bindings, quotas, directory, parts)) {
          return false;
        }
        if (segment.isSplit()) {
          continue;
        }
        if (!charged) {
          return true;
        }
        if (slot <= 0) {
          if (!directory.budget.take(1, segment.bytesToAdd())) {
            return false;
          }
          slot = segment.addFresh(fingerprint, now);
        }
        charge(bindings, quotas, directory, parts, segment, slot, wanted, now, results);
        return true;
      } finally {
        if (locked) {
          segment.unlockWrite(stamp);
          segment.splitIfLarge();
        }
      }
    }
  }

  private static @Nullable Table table(Binding[] bindings, int i) {
    return ((MemoryBinding) bindings[i]).view().only;
  }

  private static Table table(Directory directory, int parts, int i) {
    return directory.table((parts >>> (PART_BITS * i)) & PART);
  }

  private static boolean isCurrent(Binding[] bindings, int quotas, Directory directory, int parts) {
    for (int i = 0; i < quotas; i++) {
      if (table(bindings, i) != table(directory, parts, i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Reads all parts of a key's state and sets the results by them, which mean nothing unless the
   * stamp is valid afterwards. Returns false if a part cannot be read now, or does not decide
   * alone.
   */
  private static boolean read(
      Binding[] bindings,
      int quotas,
      Directory directory,
      int parts,
      Segment segment,
      int slot,
      long permits,
      long now,
      QuotaResults results) {
    long place = segment.place(slot);
    for (int i = 0; i < quotas; i++) {
      Table table = table(directory, parts, i);
      long[] state = segment.glimpse(table, slot, place);
      if (state == null) {
        return false;
      }
      int offset = segment.offset(table, state, place);
      boolean held = slot > 0 && table.isHeld(state, offset);
      if (!held && table.isUnsure()) {
        return false;
      }
      long effective = segment.effectiveNanos(table, state, offset, held, now);
      Policy policy = bindings[i].policy();
      long wait = table.meter.waitNanos(state, offset, effective, permits, policy);
      long retry = wait == 0 ? 0 : SlowPath.retryAfterNanos(wait, effective - now);
      result(results, i, table.meter, state, offset, effective, retry, policy);
    }
    return true;
  }

  private static void result(
      QuotaResults results,
      int i,
      Meter meter,
      long[] state,
      int offset,
      long effective,
      long retry,
      Policy policy) {
    results.set(
        i,
        Math.min(policy.burst(), meter.remaining(state, offset, effective, policy)),
        retry,
        Math.max(effective, meter.resetAtNanos(state, offset)) - effective,
        effective);
  }

  /** Charges all quotas; the segment's lock is held and the key has a slot. */
  private static void charge(
      Binding[] bindings,
      int quotas,
      Directory directory,
      int parts,
      Segment segment,
      int slot,
      long permits,
      long now,
      QuotaResults results) {
    for (int i = 0; i < quotas; i++) {
      Table table = table(directory, parts, i);
      Policy policy = bindings[i].policy();
      long effective = results.atNanos(i);
      segment.charge(table, slot, effective, 0, permits, policy, now);
      long[] state = segment.state(slot);
      int offset = segment.offset(table, slot);
      result(results, i, table.meter, state, offset, effective, 0, policy);
    }
  }
}
