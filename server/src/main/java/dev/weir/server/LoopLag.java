package dev.weir.server;

import dev.weir.Ticker;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Tells whether an event loop is so far behind that what it reads has waited too long. A loop that
 * is to do something at fixed times does it late when it has too much work, and that late is what
 * its clients are served. Confined to its loop.
 */
final class LoopLag {
  /** How often a loop is looked at. */
  static final long BEAT_MILLIS = 20;

  private static final long BEAT_NANOS = BEAT_MILLIS * 1_000_000L;

  private static final ThreadLocal<LoopLag> HERE =
      ThreadLocal.withInitial(() -> new LoopLag(Long.MAX_VALUE, 0));

  private final long maxWaitNanos;
  private long lastNanos;

  LoopLag(long maxWaitNanos, long nowNanos) {
    this.maxWaitNanos = maxWaitNanos;
    this.lastNanos = nowNanos;
  }

  /** Has an event loop looked at for as long as it runs. */
  static void watch(ScheduledExecutorService loop, ServerSettings settings, Ticker ticker) {
    loop.execute(
        () -> {
          long maxWait = settings.value(Setting.MAX_WAIT).toNanos();
          LoopLag lag = new LoopLag(maxWait, ticker.nanos());
          here(lag);
          ScheduledFuture<?> unused =
              loop.scheduleWithFixedDelay(
                  () -> lag.beat(ticker.nanos()), BEAT_MILLIS, BEAT_MILLIS, TimeUnit.MILLISECONDS);
        });
  }

  /** Returns that of the loop that calls; other threads are never behind. */
  static LoopLag here() {
    return HERE.get();
  }

  /** Sets that of the calling thread. */
  static void here(LoopLag lag) {
    HERE.set(lag);
  }

  /** To be called by the loop, {@link #BEAT_MILLIS} after it was called before. */
  void beat(long nowNanos) {
    lastNanos = nowNanos;
  }

  /**
   * Returns whether the loop is later than it may be: what it reads now has waited since it should
   * have been called.
   */
  boolean overloaded(long nowNanos) {
    return nowNanos - lastNanos - BEAT_NANOS > maxWaitNanos;
  }
}
