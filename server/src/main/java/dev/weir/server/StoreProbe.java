package dev.weir.server;

import dev.weir.shared.SharedMetrics;
import dev.weir.shared.SharedStore;
import java.util.function.Supplier;

/**
 * The readings of a shared store's state.
 *
 * @param metrics its counts
 * @param problem the reason why it cannot be reached, empty if it can be or the cause is unknown
 */
record StoreProbe(Supplier<SharedMetrics> metrics, Supplier<String> problem) {
  static StoreProbe of(SharedStore store) {
    return new StoreProbe(store::metrics, store::problem);
  }
}
