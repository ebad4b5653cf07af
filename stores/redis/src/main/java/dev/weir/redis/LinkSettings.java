package dev.weir.redis;

import dev.weir.AfterCrash;
import dev.weir.Ticker;
import dev.weir.shared.StoreSettings;
import java.time.Duration;

/**
 * The settings of every kind of link to Redis.
 *
 * @param prefix with which the names of all keys begin
 * @param replicas the number of replicas that must have a decision
 * @param afterCrash the treatment of keys after the store has lost counts
 * @param marked true if the store has marks, by which such a loss is noticed
 * @param store settings and counters for all parts of the store
 */
record LinkSettings(
    String prefix, int replicas, AfterCrash afterCrash, boolean marked, StoreSettings store) {
  /** The longest time in which a connection may be established. */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  Ticker ticker() {
    return store.clocks().monotonic();
  }
}
