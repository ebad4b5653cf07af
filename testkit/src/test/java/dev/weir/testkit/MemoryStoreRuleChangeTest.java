package dev.weir.testkit;

import dev.weir.MemoryStore;
import dev.weir.Store;

class MemoryStoreRuleChangeTest extends RuleChangeContract {
  @Override
  protected Store createStore(long maxKeys) {
    return new MemoryStore(maxKeys);
  }
}
