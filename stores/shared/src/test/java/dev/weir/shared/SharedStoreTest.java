package dev.weir.shared;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;

/** The contract of a store, over a transport without a network. */
class SharedStoreTest extends StoreContract {
  /** The kind of store, which counts whole microseconds. */
  static final StoreKind KIND =
      StoreKind.of(SharedStoreTest::emptyStore)
          .withTime(Result.NANOS_PER_MICRO, Long.MAX_VALUE)
          .exactly()
          .withEffort(0.05)
          .withoutCounts();

  private static Store emptyStore() {
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
  protected StoreKind kind() {
    return KIND;
  }
}
