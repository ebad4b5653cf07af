package dev.weir.cli;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.ConfigStores;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.StoreAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A provider of stores that outlive a command: {@code shared:NAME} is the same store each time,
 * {@code shared:busy} is open elsewhere.
 */
public final class SharedStores implements ConfigStoreProvider {
  private static final Map<String, ConfigStore> STORES = new ConcurrentHashMap<>();

  public static final String PASSWORD = "pass word";

  public static ConfigStore of(String name) {
    return STORES.computeIfAbsent(name, each -> ConfigStores.inMemory(Ticker.wall()));
  }

  @Override
  public String scheme() {
    return "shared";
  }

  @Override
  public String form() {
    return "shared:NAME";
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    if (address.place().equals("busy")) {
      throw new ConfigException(
          ConfigException.Kind.IN_USE, "data: in use by process 7 (expected: one server a folder)");
    }
    if (address.place().equals("locked") && !address.password().equals(PASSWORD)) {
      throw new ConfigException(ConfigException.Kind.UNAVAILABLE, "shared:locked: wrong password");
    }
    ConfigStore store = of(address.place());
    return new ForwardingConfigStore() {
      @Override
      protected ConfigStore delegate() {
        return store;
      }

      @Override
      public void close() {
        // The store outlives the command.
      }
    };
  }
}
