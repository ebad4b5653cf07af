package dev.weir.core.test;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.testkit.BoundedStoreContract;

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
