package dev.weir.redis;

import dev.weir.Ticker;
import dev.weir.shared.StoreSettings;
import java.time.Duration;

/**
 * Settings for every kind of link to Redis.
 *
 * @param prefix what the names of all keys begin with
 * @param replicas how many replicas must have a decision
 * @param store settings and counters for all parts of the store
 */
record LinkSettings(String prefix, int replicas, StoreSettings store) {
  /** How long a connection may take to come about. */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  Ticker ticker() {
    return store.clocks().monotonic();
  }
}
