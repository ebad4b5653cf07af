package dev.weir.redis;

import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;

class RedisStoreTest extends StoreContract {
  @Override
  protected StoreKind kind() {
    return Redis.KIND;
  }
}
