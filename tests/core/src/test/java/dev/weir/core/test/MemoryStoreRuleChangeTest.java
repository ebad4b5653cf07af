package dev.weir.core.test;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.testkit.RuleChangeContract;

class MemoryStoreRuleChangeTest extends RuleChangeContract {
  @Override
  protected Store createStore() {
    return new MemoryStore(1 << 20);
  }

  @Override
  protected void verify(Store store) {
    ((MemoryStore) store).verify();
  }
}
