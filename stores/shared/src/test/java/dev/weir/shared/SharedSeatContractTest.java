package dev.weir.shared;

import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreKind;

class SharedSeatContractTest extends SeatContract {
  @Override
  protected StoreKind kind() {
    return SharedStoreTest.KIND;
  }

  @Override
  protected boolean refundsNewest() {
    return false;
  }
}
