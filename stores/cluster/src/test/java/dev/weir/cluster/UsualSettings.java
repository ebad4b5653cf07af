package dev.weir.cluster;

import dev.weir.Ticker;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;

/** Settings for tests without particular requirements. */
final class UsualSettings {
  private UsualSettings() {}

  /** Returns settings of a store that waits for an answer, with the machine's clocks. */
  static StoreSettings store() {
    return new StoreSettings(
        "cluster",
        2_000_000_000L,
        new Clocks(Ticker.system(), Ticker.wall()),
        false,
        line -> {},
        line -> {},
        new Counters());
  }
}
