package dev.weir.core.test;

import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;

class MemoryStoreTest extends StoreContract {
  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }
}
