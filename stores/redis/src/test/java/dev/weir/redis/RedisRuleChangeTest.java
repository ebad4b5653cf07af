package dev.weir.redis;

import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreKind;

class RedisRuleChangeTest extends RuleChangeContract {
  @Override
  protected StoreKind kind() {
    return Redis.KIND.withEffort(0.03);
  }

  @Override
  protected boolean boundsShapes() {
    return false;
  }
}
