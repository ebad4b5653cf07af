package dev.weir.spring;

import dev.weir.Store;
import java.util.Map;

/** The state of the shared store. */
interface SharedStoreState {
  /** The state if all limits are counted in this process. */
  SharedStoreState NONE = of("memory");

  /** Returns whether the store is available now; true for a store that does not report it. */
  boolean available();

  /** Returns details for operators, without a password. */
  Map<String, Object> details();

  /** Returns the state of a store that does not report it. */
  static SharedStoreState of(Store store) {
    return of(store.getClass().getSimpleName());
  }

  private static SharedStoreState of(String kind) {
    return new SharedStoreState() {
      @Override
      public boolean available() {
        return true;
      }

      @Override
      public Map<String, Object> details() {
        return Map.of("kind", kind);
      }
    };
  }
}
