package dev.weir.bench;

import dev.weir.Ticker;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A measure for what a machine's memory allows: token buckets in one array that was made large
 * enough beforehand, each claimed by a compare-and-set. It does not grow, drops nothing, bounds
 * nothing, and has a single rule, whose keys must exist. Safe for many threads.
 */
final class BareTable {
  private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(long[].class);

  private final Ticker ticker;
  private final long emissionNanos;
  private final long toleranceNanos;

  /**
   * The fingerprints, each followed by the instant at which its bucket is full; two thirds of the
   * slots are in use.
   */
  private final long[] slots;

  @SuppressWarnings("unused")
  private long touched;

  /** Makes a table in which each of so many keys has used as much as a limiter's keys. */
  BareTable(int keys, Load load, Ticker ticker) {
    this.ticker = ticker;
    boolean ample = load == Load.ALL_ALLOWED;
    emissionNanos =
        ample ? Load.TRICKLE.windowNanos() / Load.TRICKLE.permits() : Load.DAY.toNanos();
    toleranceNanos = emissionNanos * (ample ? Load.AMPLE : 1);
    slots = new long[Math.toIntExact(2 * (keys + keys / 2 + 1L))];
    long used = emissionNanos * (ample ? 1_000 : 1);
    for (int i = 0; i < keys; i++) {
      int slot = home(Keys.hashed(i));
      while (slots[slot] != 0) {
        slot = next(slot);
      }
      slots[slot] = Keys.hashed(i);
      slots[slot + 1] = ticker.nanos() + used;
    }
  }

  private int home(long fingerprint) {
    return 2 * (int) (((fingerprint >>> 32) * (slots.length >> 1)) >>> 32);
  }

  private int next(int slot) {
    return slot + 2 == slots.length ? 0 : slot + 2;
  }

  /** Requests one permit for that key. */
  boolean decide(int key) {
    return decide(Keys.hashed(key), ticker.nanos());
  }

  /**
   * Requests one permit for each of many keys, after reading the places of all of them.
   *
   * @return the number of permits granted
   */
  int decide(int[] keys, int from, int count) {
    long read = 0;
    for (int i = from; i < from + count; i++) {
      read ^= slots[home(Keys.hashed(keys[i]))];
    }
    touched = read;
    long now = ticker.nanos();
    int fit = 0;
    for (int i = from; i < from + count; i++) {
      fit += decide(Keys.hashed(keys[i]), now) ? 1 : 0;
    }
    return fit;
  }

  private boolean decide(long fingerprint, long now) {
    int slot = home(fingerprint);
    while (slots[slot] != fingerprint) {
      slot = next(slot);
    }
    while (true) {
      long full = (long) STATE.getOpaque(slots, slot + 1);
      long charged = Math.max(now, full) + emissionNanos;
      if (charged - now > toleranceNanos) {
        return false;
      }
      if (STATE.compareAndSet(slots, slot + 1, full, charged)) {
        return true;
      }
    }
  }
}
