package dev.weir.redis;

import dev.weir.testkit.ReservationContract;
import dev.weir.testkit.StoreKind;

class RedisReservationTest extends ReservationContract {
  @Override
  protected StoreKind kind() {
    return Redis.KIND;
  }
}
