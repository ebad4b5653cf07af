package dev.weir;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A share of a table's keys under one lock: an open-addressed array of fingerprints with linear
 * probing, their states beside it.
 *
 * <p>Every method but the lock's own needs the lock.
 */
final class Stripe extends ReentrantLock {
  private static final long serialVersionUID = 1;
  private static final AtomicLong ORDERS = new AtomicLong();

  private static final int FIRST_CAPACITY = 16;

  /** No key is looked at for forgetting while fewer are here: not worth the work. */
  private static final int FORGET_FROM = 1024;

  /** Keys looked at when a key is added: more than one, so that the dead cannot pile up. */
  private static final int FORGET_STEPS = 8;

  /** What one stripe's arrays count for in the words of a state: the fingerprint and reference. */
  private static final int SLOT_WORDS = 4;

  /** What a free slot's state is: never looked at. */
  private static final long[] NONE = new long[0];

  /** The place in the order in which stripes are locked together. */
  final long order = ORDERS.getAndIncrement();

  private final transient Meter meter;
  private final transient Budget budget;
  private long[] keys = new long[0];
  private long[][] states = new long[0][];
  private int size;
  private int hand;
  private long floorNanos = Meter.LONG_AGO;
  private long latestNanos = Meter.LONG_AGO;

  Stripe(Meter meter, Budget budget) {
    this.meter = meter;
    this.budget = budget;
  }

  /**
   * Returns the earliest instant at which a key without state may be decided: a state that was
   * forgotten had rested by then. Only a caller whose own clock goes back can be earlier.
   */
  long floorNanos() {
    return floorNanos;
  }

  /** Returns the latest time at which anything was put here. */
  long latestNanos() {
    return latestNanos;
  }

  long @Nullable [] state(long fingerprint) {
    int slot = find(fingerprint);
    return slot < 0 || keys[slot] == 0 ? null : states[slot];
  }

  /** Puts a key's state in its place. Returns 1 if the key is new here, else 0. */
  int put(long fingerprint, long[] state, long nowNanos) {
    latestNanos = Math.max(latestNanos, nowNanos);
    int slot = find(fingerprint);
    if (slot >= 0 && keys[slot] != 0) {
      budget.grown((long) state.length - states[slot].length);
      states[slot] = state;
      return 0;
    }
    if (size >= FORGET_FROM) {
      forget(nowNanos, FORGET_STEPS);
    }
    if (4 * (size + 1) > 3 * keys.length) {
      grow();
    }
    slot = find(fingerprint);
    keys[slot] = fingerprint;
    states[slot] = state;
    size++;
    budget.grown(state.length + SLOT_WORDS);
    return 1;
  }

  /** Looks at the next few keys and forgets those that have rested. Returns how many went. */
  int forget(long nowNanos, int steps) {
    int gone = 0;
    for (int i = 0; i < steps && size > 0; i++) {
      hand = hand + 1 < keys.length ? hand + 1 : 0;
      while (keys[hand] != 0 && meter.restedAtNanos(states[hand]) <= nowNanos) {
        floorNanos = Math.max(floorNanos, meter.restedAtNanos(states[hand]));
        budget.grown(-states[hand].length - SLOT_WORDS);
        remove(hand);
        gone++;
      }
    }
    budget.giveBack(gone);
    if (size == 0 && keys.length > FIRST_CAPACITY) {
      keys = new long[0];
      states = new long[0][];
      hand = 0;
    }
    return gone;
  }

  /** Forgets everything, rested or not. */
  void clear() {
    for (int i = 0; i < keys.length; i++) {
      if (keys[i] != 0) {
        budget.grown(-states[i].length - SLOT_WORDS);
      }
    }
    budget.giveBack(size);
    keys = new long[0];
    states = new long[0][];
    size = 0;
    hand = 0;
  }

  int capacity() {
    return keys.length;
  }

  /** Returns the key's slot, or the free one where it belongs, or -1 if there are no slots yet. */
  private int find(long fingerprint) {
    int mask = keys.length - 1;
    if (mask < 0) {
      return -1;
    }
    int slot = (int) fingerprint & mask;
    while (keys[slot] != 0 && keys[slot] != fingerprint) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldKeys = keys;
    long[][] oldStates = states;
    keys = new long[Math.max(FIRST_CAPACITY, 2 * oldKeys.length)];
    states = new long[keys.length][];
    Arrays.fill(states, NONE);
    hand = 0;
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int slot = find(oldKeys[i]);
        keys[slot] = oldKeys[i];
        states[slot] = oldStates[i];
      }
    }
  }

  /** Frees a slot and closes the gap: what was displaced past it moves back. [Knuth 6.4, R] */
  private void remove(int slot) {
    int mask = keys.length - 1;
    int gap = slot;
    for (int i = (gap + 1) & mask; keys[i] != 0; i = (i + 1) & mask) {
      int home = (int) keys[i] & mask;
      if (((i - home) & mask) >= ((i - gap) & mask)) {
        keys[gap] = keys[i];
        states[gap] = states[i];
        gap = i;
      }
    }
    keys[gap] = 0;
    states[gap] = NONE;
    size--;
  }
}
