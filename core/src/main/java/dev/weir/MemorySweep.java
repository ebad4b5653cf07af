package dev.weir;

import java.lang.ref.WeakReference;

/**
 * A task that gives a store's memory back for as long as the store is in use.
 *
 * <p>Why not on the decisions themselves? A limiter that gets no more requests would keep its
 * memory, and some request would have to pay for the sweep. Why no thread? The ticker can call
 * back, on threads that the JDK has anyway; a test's ticker calls back when it is advanced. The
 * reference is weak, so a limiter that is no longer used is collected, and this object with it.
 */
final class MemorySweep implements Runnable {
  /**
   * The time between two sweeps, each over a sixteenth of a table: the whole table in less than 3
   * minutes.
   */
  static final long INTERVAL_NANOS = 10_000_000_000L;

  private final WeakReference<LocalStore> swept;
  private final Ticker ticker;

  private MemorySweep(LocalStore store, Ticker ticker) {
    this.swept = new WeakReference<>(store);
    this.ticker = ticker;
  }

  static void start(LocalStore store, Ticker ticker) {
    ticker.schedule(INTERVAL_NANOS, new MemorySweep(store, ticker));
  }

  @Override
  public void run() {
    LocalStore store = swept.get();
    if (store == null) {
      return;
    }
    try {
      store.expire(ticker.nanos());
    } finally {
      ticker.schedule(INTERVAL_NANOS, this);
    }
  }
}
