package dev.weir.server;

import dev.weir.Store;
import dev.weir.rules.RuleSet;
import dev.weir.server.internal.http.Endpoints;
import dev.weir.server.internal.metrics.Families;
import java.util.Optional;

/** The connection of a server to the store that it shares with others, or to none. */
interface StoreConnection {
  /** The connection of a server that counts all limits in its own process. */
  StoreConnection NONE = new StoreConnection() {};

  /** Returns the shared store; empty if there is none. */
  default Optional<Store> store() {
    return Optional.empty();
  }

  /** Returns a word for the fingerprints by which the server identifies keys. */
  default String keys() {
    return "its own";
  }

  /** Returns the place of the store, for the line about the server's ports. */
  default String place() {
    return "";
  }

  /**
   * Connects, for a bounded time; the server also starts without the store.
   *
   * @param rules in force
   * @param warm true to warm up the path to the store
   */
  default void begin(RuleSet rules, boolean warm) throws InterruptedException {}

  /** Logs changes of the store's state; called about once a second. */
  default void check(RuleSet rules) {}

  /** Adds the pages about the store to those of the HTTP port. */
  default void addPages(Endpoints to) {}

  /** Adds the store's metrics. */
  default void addMetrics(Families to) {}

  /** Closes the store. */
  default void close() {}
}
