package dev.weir.server;

import dev.weir.shared.SharedMetrics;
import java.util.function.Supplier;

/**
 * The readings of a shared store's state.
 *
 * @param metrics its counts
 * @param problem the reason why it cannot be reached, empty if it can be or the cause is unknown
 */
record StoreProbe(Supplier<SharedMetrics> metrics, Supplier<String> problem) {
  static StoreProbe of(dev.weir.shared.SharedStore store) {
    return new StoreProbe(store::metrics, store::problem);
  }
}
