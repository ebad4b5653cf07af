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
 */
record LinkSettings(
    String prefix, long timeoutNanos, int replicas, Ticker ticker, Consumer<? super String> log) {
  /** How long a connection may take to come about. */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
}
