package dev.weir.core.test;

import dev.weir.testkit.BoundedStoreContract;
import dev.weir.testkit.StoreKind;

class MemoryStoreBoundsTest extends BoundedStoreContract {
  @Override
  protected StoreKind kind(long maxKeys) {
    return MemoryStores.kind(maxKeys);
  }
}
