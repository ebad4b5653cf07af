package dev.weir.redis;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * What every way to Redis is told.
 *
 * @param prefix what the names of all keys begin with
 * @param timeoutNanos how long a decision may take
 * @param replicas how many replicas must have it
 * @param ticker measures deadlines
 * @param log is told what an operator should know
 * @param warnings is told what breaks promises
 */
record LinkSettings(
    String prefix,
    long timeoutNanos,
    int replicas,
    Ticker ticker,
    Consumer<? super String> log,
    Consumer<? super String> warnings) {
  /** How long a connection may take to come about. */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  private static final long LEAST_TICK_NANOS = 1_000_000L;
  private static final long MOST_TICK_NANOS = 5_000_000L;
  private static final int TICKS_PER_TIMEOUT = 10;

  /** Returns how often to look after what waits. */
  static long tickNanos(long timeoutNanos) {
    return Math.max(LEAST_TICK_NANOS, Math.min(MOST_TICK_NANOS, timeoutNanos / TICKS_PER_TIMEOUT));
  }
}
