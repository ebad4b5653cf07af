package dev.weir.engine.internal.matching;

import dev.weir.Ticker;

/** A task that runs periodically until it is closed. Safe for use by many threads. */
public final class PeriodicTask implements AutoCloseable {
  private final Ticker ticker;
  private final long periodNanos;
  private final Runnable task;

  // Guarded by this.
  private Ticker.ScheduledTask next = () -> {};
  private boolean closed;

  private PeriodicTask(Ticker ticker, long periodNanos, Runnable task) {
    this.ticker = ticker;
    this.periodNanos = periodNanos;
    this.task = task;
  }

  /** Runs a task after each period on the ticker's threads, even after it has failed. */
  public static PeriodicTask start(Ticker ticker, long periodNanos, Runnable task) {
    PeriodicTask repeated = new PeriodicTask(ticker, periodNanos, task);
    repeated.schedule();
    return repeated;
  }

  private synchronized void schedule() {
    if (!closed) {
      next = ticker.schedule(periodNanos, this::run);
    }
  }

  private void run() {
    try {
      task.run();
    } finally {
      schedule();
    }
  }

  /** Ends the repetition. The task may be running. */
  @Override
  public synchronized void close() {
    closed = true;
    next.cancel();
  }
}
