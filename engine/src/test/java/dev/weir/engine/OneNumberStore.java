package dev.weir.engine;

import dev.weir.Binding;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Store;

/** A store whose keys have one number, that of the rule. */
public final class OneNumberStore extends ForwardingStore<Store> {
  public OneNumberStore(MemoryStore store) {
    super(store);
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    throw new UnsupportedOperationException("variant");
  }
}
