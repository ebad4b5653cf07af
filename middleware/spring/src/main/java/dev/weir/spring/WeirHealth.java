package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of Weir. It is always up: while the shared store is away, the rules decide how to
 * treat requests, and to take an instance out for that would not help.
 */
final class WeirHealth {
  private final RunningEngine engine;
  private final SharedStores stores;

  WeirHealth(RunningEngine engine, SharedStores stores) {
    this.engine = engine;
    this.stores = stores;
  }

  Map<String, Object> details() {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("revision", engine.engine().revision());
    details.put("fullPercent", engine.engine().fullPercent());
    details.put("store", stores.available() ? "available" : "away");
    return details;
  }
}
