package dev.weir.core.test;

import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.ReservationContract;
import dev.weir.testkit.StoreKind;

/** Reservations in memory. */
class ReservationTest extends ReservationContract {
  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }

  @Override
  protected RateLimiter createLimiter(Policy policy, FakeTicker ticker) {
    return RateLimiter.builder(policy).ticker(ticker).build();
  }
}
