package dev.weir.redis;

import dev.weir.Store;
import dev.weir.testkit.RecordChangeContract;

class RedisRecordChangeTest extends RecordChangeContract {
  @Override
  protected Store createStore() {
    return Redis.emptyStore();
  }

  @Override
  protected long resolutionNanos() {
    return Redis.RESOLUTION_NANOS;
  }

  @Override
  protected long mostFineNanos() {
    return 1L << 52;
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
