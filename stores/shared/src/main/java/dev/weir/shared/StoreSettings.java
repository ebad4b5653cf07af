package dev.weir.shared;

import java.util.function.Consumer;

/**
 * The settings and counters for all parts of a shared store.
 *
 * @param kind the store's kind in a word, for metrics and the names of threads
 * @param timeoutNanos the longest time that a decision may take
 * @param clocks measure deadlines, allotments and remembered refusals
 * @param callersClock whether the store decides by the callers' time, for tests
 * @param log receives messages for operators, in one line each
 * @param warnings receives problems that break guarantees while they last, in one line each
 * @param counters the store's counters
 */
public record StoreSettings(
    String kind,
    long timeoutNanos,
    Clocks clocks,
    boolean callersClock,
    Consumer<? super String> log,
    Consumer<? super String> warnings,
    Counters counters) {
  private static final long LEAST_TICK_NANOS = 1_000_000L;
  private static final long MOST_TICK_NANOS = 5_000_000L;
  private static final int TICKS_PER_TIMEOUT = 10;

  /** Returns the interval at which waiting operations are checked. */
  public static long tickNanos(long timeoutNanos) {
    return Math.max(LEAST_TICK_NANOS, Math.min(MOST_TICK_NANOS, timeoutNanos / TICKS_PER_TIMEOUT));
  }
}
