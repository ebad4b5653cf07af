package dev.weir.core.test;

import dev.weir.MemoryStore;
import dev.weir.testkit.StoreKind;

/** The store in memory, for the contract suites. */
final class MemoryStores {
  static final StoreKind KIND = kind(1 << 20);

  private MemoryStores() {}

  /** Returns the kind of store with room for that many keys. */
  static StoreKind kind(long maxKeys) {
    return StoreKind.of(() -> new MemoryStore(maxKeys))
        .withCheck(MemoryStore.class, MemoryStore::verify);
  }
}
