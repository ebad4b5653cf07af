package dev.weir.core.test;

import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Store;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.ReservationContract;

/** Reservations in memory. */
class ReservationTest extends ReservationContract {
  @Override
  protected Store createStore() {
    return new MemoryStore();
  }

  @Override
  protected RateLimiter createLimiter(Policy policy, FakeTicker ticker) {
    return RateLimiter.builder(policy).ticker(ticker).build();
  }
}
