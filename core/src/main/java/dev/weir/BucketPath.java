package dev.weir;

import org.jspecify.annotations.Nullable;

/** The fast path for a bucket whose key has state already. */
final class BucketPath {
  /*
   * Why do buckets have a path of their own? It takes the steps of FastPath, but what it reads is
   * fixed: a state is one word, in the slot beside the fingerprint. So what is written is computed
   * from what was read before the lock was taken, and nothing is looked up again under it; and the
   * method is small enough for the compiler to inline it into its callers, while that of FastPath
   * is too large. It is tried once. Whatever comes in between (another thread has written, the key
   * has no slot, the policy has changed) is left to FastPath, which begins anew.
   */

  /** The longs of a slot: the fingerprint and the state. */
  private static final int WIDTH = 1 + Gcra.WORDS;

  private BucketPath() {}

  /**
   * Decides one charge.
   *
   * @param view the tables that count, as they were read before
   * @param table the only one of them, whose states are {@linkplain Table#ofWords one word}
   * @param fingerprint not 0
   * @param hint the place where the key was found beforehand, as {@link Segment#hint} returns it
   * @param permits at least 1
   * @param results receives the result as that of charge 0, or null
   * @return the decision, to be read by {@link PackedDecision}, or {@link FastPath#UNDECIDED}
   */
  static long decide(
      MemoryBinding binding,
      TableView view,
      Table table,
      long fingerprint,
      int hint,
      long permits,
      long now,
      @Nullable Charges results) {
    Policy policy = binding.policy();
    if (permits > policy.burst() || policy.emissionNanos == 0) {
      return FastPath.UNDECIDED;
    }
    Segment segment = table.segment(fingerprint);
    long stamp = segment.tryOptimisticRead();
    long[] slots = segment.slots();
    int slot = Segment.find(slots, WIDTH, fingerprint, hint);
    if (stamp == 0 || slot <= 0) {
      return FastPath.UNDECIDED;
    }
    long tat = slots[slot + 1];
    long effective = Gcra.effectiveNanos(tat, now);
    long charged = Gcra.charged(tat, effective, permits, policy);
    long room = Gcra.room(charged, effective, policy);
    if (room < 0) {
      return segment.validate(stamp) && !segment.isSplit()
          ? refused(tat, effective, -room, policy, results, now)
          : FastPath.UNDECIDED;
    }
    long claimed = segment.tryConvertToWriteLock(stamp);
    if (claimed == 0) {
      return FastPath.UNDECIDED;
    }
    try {
      if (segment.isSplit() || !binding.isCurrent(view)) {
        return FastPath.UNDECIDED;
      }
      segment.bucket(table, slot, effective, charged, now);
    } finally {
      segment.unlockWrite(claimed);
    }
    long remaining = room / policy.emissionNanos;
    if (results != null) {
      results.result(0, Reason.WITHIN_LIMIT, remaining, 0, charged - effective, effective);
    }
    return remaining;
  }

  /** Returns the refusal. The state is later than now, since the burst covers the permits. */
  private static long refused(
      long tat, long effective, long wait, Policy policy, @Nullable Charges results, long now) {
    long retry = SlowPath.retryAfterNanos(wait, effective - now);
    if (results != null) {
      long remaining = Math.max(0, Gcra.room(tat, effective, policy)) / policy.emissionNanos;
      results.result(0, Reason.OVER_LIMIT, remaining, retry, tat - effective, effective);
    }
    return PackedDecision.refused(retry);
  }
}
