package dev.weir.shared;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.testkit.StoreContract;

/** The contract of a store, over a transport without a network. */
class SharedStoreTest extends StoreContract {
  static Store emptyStore() {
    StoreSettings settings =
        new StoreSettings(
            "memory",
            10_000_000_000L,
            new Clocks(Ticker.system(), Ticker.wall()),
            true,
            line -> {},
            line -> {},
            new Counters());
    SharedStore store = MemoryShard.open(new MemoryStore(), settings, System::nanoTime);
    while (!store.available()) {
      Thread.onSpinWait();
    }
    return store;
  }

  @Override
  protected Store createStore() {
    return emptyStore();
  }

  @Override
  protected long resolutionNanos() {
    return Result.NANOS_PER_MICRO;
  }

  @Override
  protected double effort() {
    return 0.05;
  }

  @Override
  protected boolean countsState() {
    return false;
  }
}
