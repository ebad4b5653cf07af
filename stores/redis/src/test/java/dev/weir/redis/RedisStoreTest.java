package dev.weir.redis;

import dev.weir.Store;
import dev.weir.testkit.StoreContract;

class RedisStoreTest extends StoreContract {
  @Override
  protected Store createStore() {
    return Redis.emptyStore();
  }

  @Override
  protected long resolutionNanos() {
    return Redis.RESOLUTION_NANOS;
  }

  @Override
  protected double effort() {
    return 0.05;
  }

  @Override
  protected boolean countsState() {
    return false;
  }
}
