package dev.weir.shared;

import java.util.function.Consumer;

/**
 * Settings and counters for all parts of a shared store.
 *
 * @param kind the store's kind in a word, for metrics and the names of threads
 * @param timeoutNanos how long a decision may take
 * @param clocks measure deadlines, allotments and remembered refusals
 * @param callersClock whether the store decides by the callers' time, for tests
 * @param log receives what an operator should know, in one line each
 * @param warnings receives problems that break guarantees while they last, in one line each
 * @param counters what the store counts
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

  /** Returns how often to look after what waits. */
  public static long tickNanos(long timeoutNanos) {
    return Math.max(LEAST_TICK_NANOS, Math.min(MOST_TICK_NANOS, timeoutNanos / TICKS_PER_TIMEOUT));
  }
}
