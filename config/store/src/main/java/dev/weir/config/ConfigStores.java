package dev.weir.config;

import dev.weir.Ticker;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.rows.MemoryRows;
import dev.weir.config.rows.RowConfigStore;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** A way to open configuration stores by their address. */
public final class ConfigStores {
  private ConfigStores() {}

  /** Opens a store that needs no password; see {@link #open(String, String)}. */
  public static ConfigStore open(String address) {
    return open(address, "");
  }

  /**
   * Opens a store by a {@link ConfigStoreProvider} on the class path.
   *
   * @param address {@code memory:}, or one in the provider's form, for example {@code rocksdb:data}
   * @param password of the store's user, or empty
   * @throws IllegalArgumentException if no provider supports the address
   * @throws ConfigException if the store cannot be opened
   */
  public static ConfigStore open(String address, String password) {
    StoreAddress parsed = StoreAddress.parse(address, password);
    List<String> forms = new ArrayList<>();
    for (ConfigStoreProvider provider : ServiceLoader.load(ConfigStoreProvider.class)) {
      if (provider.scheme().equals(parsed.scheme())) {
        return provider.open(parsed);
      }
      forms.add(provider.form());
    }
    forms.sort(String::compareTo);
    throw Check.wrong(
        "configuration store",
        StoreAddress.shown(address),
        String.join(" or ", forms) + "; others need their module on the class path");
  }

  /**
   * Returns a new store in this process that ends with it.
   *
   * @param wall the clock that changes are dated by
   */
  public static ConfigStore inMemory(Ticker wall) {
    return RowConfigStore.open(new MemoryRows(wall));
  }
}
