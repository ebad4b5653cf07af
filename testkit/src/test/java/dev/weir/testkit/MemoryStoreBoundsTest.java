package dev.weir.testkit;

import dev.weir.MemoryStore;
import dev.weir.Store;

class MemoryStoreBoundsTest extends BoundedStoreContract {
  @Override
  protected Store createStore(long maxKeys) {
    return new MemoryStore(maxKeys);
  }

  @Override
  protected void verify(Store store) {
    ((MemoryStore) store).verify();
  }
}
