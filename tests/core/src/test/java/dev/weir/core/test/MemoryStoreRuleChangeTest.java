package dev.weir.core.test;

import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreKind;

class MemoryStoreRuleChangeTest extends RuleChangeContract {
  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }
}
