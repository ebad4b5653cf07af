package dev.weir.engine;

import dev.weir.Ticker;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs tasks by a ticker's time, on threads of its choice. */
final class TickerAlarm implements Alarm {
  private final Ticker ticker;
  private volatile boolean closed;

  TickerAlarm(Ticker ticker) {
    this.ticker = ticker;
  }

  @Override
  public Runnable after(long delayNanos, Runnable task) {
    // The ticker holds what is scheduled until it is due, so a cancelled task leaves little behind.
    AtomicReference<@Nullable Runnable> left = new AtomicReference<>(task);
    ticker.schedule(
        delayNanos,
        () -> {
          Runnable due = left.getAndSet(null);
          if (due != null && !closed) {
            due.run();
          }
        });
    return () -> left.set(null);
  }

  @Override
  public void close() {
    closed = true;
  }
}
