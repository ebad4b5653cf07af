package dev.weir.redis;

import dev.weir.Ticker;
import dev.weir.shared.StoreSettings;
import java.time.Duration;

/**
 * The settings of every kind of link to Redis.
 *
 * @param prefix with which the names of all keys begin
 * @param replicas the number of replicas that must have a decision
 * @param store settings and counters for all parts of the store
 */
record LinkSettings(String prefix, int replicas, StoreSettings store) {
  /** The longest time in which a connection may be established. */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  Ticker ticker() {
    return store.clocks().monotonic();
  }
}
