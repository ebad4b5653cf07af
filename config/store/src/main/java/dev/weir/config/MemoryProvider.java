package dev.weir.config;

import dev.weir.Ticker;
import dev.weir.config.internal.bytes.Check;
import java.util.Set;

/** The provider of stores in this process: {@code memory:}. Public only for the service loader. */
public final class MemoryProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "memory";
  }

  @Override
  public String form() {
    return "memory:";
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    address.requireOptions(Set.of());
    if (!address.place().isEmpty()) {
      throw Check.wrong("configuration store", address, form());
    }
    return ConfigStores.inMemory(Ticker.wall());
  }
}
