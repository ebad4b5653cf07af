package dev.weir.engine;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.Policy;
import dev.weir.rules.StoreChoice;
import java.util.function.Consumer;
import java.util.function.Function;

/** Two stores as one: the names of limits choose between them. */
final class ChoosingStore extends ForwardingStore<RoutedStore> {
  private final Function<String, StoreChoice> choices;

  ChoosingStore(RoutedStore store, Function<String, StoreChoice> choices) {
    super(store);
    this.choices = choices;
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return delegate.bind(name, policy, choices.apply(name), nowNanos);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    delegate.expect(new Charges[] {charges}, 1);
    delegate.decide(charges, nowNanos, done);
  }
}
