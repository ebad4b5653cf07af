package dev.weir.server;

import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.server.internal.log.FewLines;
import dev.weir.shared.SharedMetrics;
import java.util.Map;
import java.util.function.Supplier;

/** Stores in this process that servers can share. */
final class SharedStores {
  /** The metrics of a store that is available and was not called. */
  static final SharedMetrics METRICS =
      new SharedMetrics("redis", true, 0, 0, 0, 0, 0, Map.of(), 0, 0, 0, 0, Map.of());

  private SharedStores() {}

  static SharedStoreConnection of(Store store) {
    return of(store, () -> METRICS);
  }

  static SharedStoreConnection of(Store store, Supplier<SharedMetrics> metrics) {
    Ticker ticker = Ticker.system();
    return new SharedStoreConnection(
        store,
        new StoreProbe(metrics, () -> ""),
        "pretended",
        "shared",
        new FewLines(ticker),
        new SharedStoreConnection.Warnings(new FewLines(ticker)));
  }
}
