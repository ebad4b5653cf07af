package dev.weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The time that decides: nanoseconds that only grow.
 *
 * <p>Its values are close to nanoseconds since the Unix epoch (windows that are aligned to the
 * clock begin at multiples of their length on this scale), but it advances with the machine's
 * monotonic clock and never follows a step of the wall clock.
 *
 * <p>Implementations are safe for use by many threads. A value outside {@code ±}{@link
 * #HORIZON_NANOS} is treated as the nearest value inside that range.
 */
@FunctionalInterface
public interface Ticker {
  /** The bound on instants, {@code 3 * 2^60 - 1} nanoseconds: 109 years, the year 2079. */
  long HORIZON_NANOS = (3L << 60) - 1;

  /** Returns the current time in nanoseconds since the Unix epoch. */
  long nanos();

  /**
   * Waits until {@link #nanos()} has advanced by {@code nanos}, or nearly as much: a caller that
   * needs certainty reads the time again. A ticker that is advanced by hand advances itself here.
   */
  default void sleep(long nanos) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(nanos);
  }

  /**
   * Schedules a task that runs once {@link #nanos()} has advanced by {@code nanos}, or nearly as
   * much, on a thread that this ticker chooses, and returns at once. A ticker that is advanced by
   * hand runs the task when it is. Default: after that much real time, on one of a few threads that
   * are for such tasks only. A task that blocks them delays others, so work that may is done on
   * other threads.
   *
   * @param nanos at least 0
   * @return cancels the task
   */
  default ScheduledTask schedule(long nanos, Runnable task) {
    CompletableFuture<Boolean> due = new CompletableFuture<>();
    CompletableFuture<Void> unused =
        due.thenAccept(
            run -> {
              if (run) {
                TimerThreads.EXECUTOR.execute(task);
              }
            });
    // If it is completed before, the JDK's timer and the future both forget the task.
    due.completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
    return () -> due.complete(false);
  }

  /** A task that is to run later. Safe for use by many threads. */
  @FunctionalInterface
  interface ScheduledTask {
    /**
     * Cancels the task, unless it has begun. The ticker and this object then keep alive nothing
     * that the task refers to.
     */
    void cancel();
  }

  /**
   * Returns the machine's monotonic clock, anchored to the wall clock once, when this class was
   * loaded.
   */
  static Ticker system() {
    return SystemTicker.INSTANCE;
  }

  /**
   * Returns the wall clock as it is now, including steps back and ahead. It must decide nothing by
   * itself; it shows that more time has passed than by the monotonic clock, which stands still
   * while a machine is suspended.
   */
  static Ticker wall() {
    return SystemTicker.WALL;
  }
}
