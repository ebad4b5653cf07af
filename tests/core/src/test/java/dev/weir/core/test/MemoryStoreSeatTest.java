package dev.weir.core.test;

import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreKind;

class MemoryStoreSeatTest extends SeatContract {
  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }
}
