package dev.weir.replay;

import dev.weir.Ticker;
import dev.weir.engine.Alarm;
import java.util.Comparator;
import java.util.TreeSet;

/**
 * A clock that stands until it is set on, and the alarms on it. Of alarms for the same instant the
 * one that was set first rings first. For one thread.
 */
final class VirtualTime implements Ticker, Alarm {
  private static final Comparator<Due> ORDER =
      Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::number);

  /** An alarm that is set; its number tells alarms for one instant apart. */
  private record Due(long atNanos, long number, Runnable task) {}

  private final TreeSet<Due> alarms = new TreeSet<>(ORDER);
  private long nowNanos;
  private long numbers;

  @Override
  public long nanos() {
    return nowNanos;
  }

  /** Sets the clock on. Alarms that are due until then must have rung. */
  void advance(long toNanos) {
    nowNanos = Math.max(nowNanos, toNanos);
  }

  /** Sets the clock to an instant, before any alarm is set. */
  void begin(long atNanos) {
    nowNanos = atNanos;
  }

  @Override
  public Runnable after(long delayNanos, Runnable task) {
    Due alarm = new Due(nowNanos + delayNanos, numbers++, task);
    alarms.add(alarm);
    return () -> alarms.remove(alarm);
  }

  /**
   * Sets the clock on to the next alarm and lets it ring, if it is due until an instant, which is
   * included.
   *
   * @return whether there was one
   */
  boolean ring(long untilNanos) {
    if (alarms.isEmpty() || alarms.first().atNanos > untilNanos) {
      return false;
    }
    Due next = alarms.first();
    alarms.remove(next);
    advance(next.atNanos);
    next.task.run();
    return true;
  }

  @Override
  public void close() {
    alarms.clear();
  }
}
