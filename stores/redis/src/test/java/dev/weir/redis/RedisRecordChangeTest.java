package dev.weir.redis;

import dev.weir.testkit.RecordChangeContract;
import dev.weir.testkit.StoreKind;

class RedisRecordChangeTest extends RecordChangeContract {
  @Override
  protected StoreKind kind() {
    return Redis.KIND;
  }
}
