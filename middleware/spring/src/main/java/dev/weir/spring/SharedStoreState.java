package dev.weir.spring;

import dev.weir.Store;
import java.util.Map;

/** Whether the shared store can be asked. */
interface SharedStoreState {
  /** Where all limits are counted in this process. */
  SharedStoreState NONE = of("memory");

  /** Returns whether it can be asked now; true of a store that does not tell. */
  boolean available();

  /** Returns what a person wants to know of it. No password is in there. */
  Map<String, Object> details();

  /** Returns the state of a store that does not tell. */
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
