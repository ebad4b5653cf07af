package dev.weir.shared.internal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bound on the keys that a process holds for one store: allotments, counts and refusals, of all
 * bindings and variants together. Safe for use by many threads.
 */
public final class HeldKeys {
  /*
   * Each binding has a bound on its keys; but there may be many bindings, and callers choose keys.
   * So all of them share this one, a part of the heap. Beyond the bound, nothing is held of a
   * further key, so the store decides each time: that costs calls, and does not admit more.
   */

  /** The approximate memory of one key. */
  private static final long KEY_BYTES = 512;

  /** The largest part of the heap for all keys together: an eighth. */
  private static final int HEAP_PART = 8;

  private final long most;
  private final AtomicLong held = new AtomicLong();

  public HeldKeys(long most) {
    this.most = most;
  }

  /** Returns a bound for the heap of this process. */
  public static HeldKeys ofHeap() {
    return new HeldKeys(Runtime.getRuntime().maxMemory() / HEAP_PART / KEY_BYTES);
  }

  /** Takes a place for a key; returns whether there was one. */
  boolean take() {
    if (held.incrementAndGet() <= most) {
      return true;
    }
    held.decrementAndGet();
    return false;
  }

  /** Gives a place back. */
  void giveBack() {
    held.decrementAndGet();
  }

  /** Returns the number of places that are taken. */
  long held() {
    return held.get();
  }
}
