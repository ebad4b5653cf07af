package dev.weir.config;

import dev.weir.testkit.FakeTicker;

class MemoryConfigStoreTest extends ConfigStoreContract {
  @Override
  public ConfigStore createStore() {
    return ConfigStores.inMemory(new FakeTicker(1_800_000_000_123_456_789L));
  }
}
