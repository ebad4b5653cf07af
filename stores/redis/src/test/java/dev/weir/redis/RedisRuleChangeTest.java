package dev.weir.redis;

import dev.weir.Store;
import dev.weir.testkit.RuleChangeContract;

class RedisRuleChangeTest extends RuleChangeContract {
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
    return 0.03;
  }

  @Override
  protected boolean countsState() {
    return false;
  }

  @Override
  protected boolean boundsShapes() {
    return false;
  }
}
