package dev.weir.core.test;

import dev.weir.testkit.RecordChangeContract;
import dev.weir.testkit.StoreKind;

class MemoryStoreRecordChangeTest extends RecordChangeContract {
  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }
}
