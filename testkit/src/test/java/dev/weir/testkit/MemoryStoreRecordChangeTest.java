package dev.weir.testkit;

import dev.weir.MemoryStore;
import dev.weir.Store;

class MemoryStoreRecordChangeTest extends RecordChangeContract {
  @Override
  protected Store createStore() {
    return new MemoryStore(1 << 20);
  }

  @Override
  protected void verify(Store store) {
    ((MemoryStore) store).verify();
  }
}
