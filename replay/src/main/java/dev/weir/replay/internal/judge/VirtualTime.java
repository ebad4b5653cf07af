package dev.weir.replay.internal.judge;

import dev.weir.Ticker;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;

/**
 * A clock that stands until it is advanced, and the tasks that are scheduled on it. Of tasks for
 * the same instant the one that was scheduled first runs first. For one thread.
 */
final class VirtualTime implements Ticker {
  private static final Comparator<Due> ORDER =
      Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::number);

  /** The time at which a task is due; its number orders tasks for one instant. */
  private record Due(long atNanos, long number) {}

  private final TreeMap<Due, Runnable> tasks = new TreeMap<>(ORDER);
  private long nowNanos;
  private long numbers;

  @Override
  public long nanos() {
    return nowNanos;
  }

  /** Advances the clock. Tasks that are due until then must have run. */
  void advance(long toNanos) {
    nowNanos = Math.max(nowNanos, toNanos);
  }

  /** Sets the clock to an instant, before any task is scheduled. */
  void begin(long atNanos) {
    nowNanos = atNanos;
  }

  @Override
  public ScheduledTask schedule(long delayNanos, Runnable task) {
    Due due = new Due(nowNanos + delayNanos, numbers++);
    tasks.put(due, task);
    return () -> tasks.remove(due);
  }

  /**
   * Advances the clock to the next task and runs it, if it is due until an instant, which is
   * included.
   *
   * @return true if there was one
   */
  boolean runNext(long untilNanos) {
    if (tasks.isEmpty() || tasks.firstKey().atNanos > untilNanos) {
      return false;
    }
    Map.Entry<Due, Runnable> next = tasks.pollFirstEntry();
    advance(next.getKey().atNanos);
    next.getValue().run();
    return true;
  }
}
