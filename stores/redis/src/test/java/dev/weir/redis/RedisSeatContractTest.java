package dev.weir.redis;

import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreKind;

class RedisSeatContractTest extends SeatContract {
  @Override
  protected StoreKind kind() {
    return Redis.KIND;
  }

  @Override
  protected boolean refundsNewest() {
    return false;
  }
}
