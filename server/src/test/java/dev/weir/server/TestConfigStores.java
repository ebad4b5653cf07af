package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.ConfigStores;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.Tree;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The provider of stores that the servers of a test share: {@code test:NAME}. They fail at the
 * test's command.
 */
public final class TestConfigStores implements ConfigStoreProvider {
  private static final Map<String, Shared> STORES = new ConcurrentHashMap<>();
  private static final AtomicInteger NAMES = new AtomicInteger();

  /** One store, with the fault it has. */
  static final class Shared {
    final ConfigStore store = ConfigStores.inMemory(Ticker.wall());
    final String address;
    volatile @Nullable Kind fault;
    volatile String password = "";

    private Shared(String address) {
      this.address = address;
    }

    /** Makes a new revision of one file. */
    void push(String rules) {
      Map<String, String> files = Map.of("rules.yaml", rules);
      store.commit(
          store.head().revision(), Tree.of(files), files.values(), Cause.of("test", "a test"));
    }

    private void check() {
      Kind now = fault;
      if (now != null) {
        throw new ConfigException(now, address + ": pretended (expected: nothing else)");
      }
    }
  }

  /** Returns a new store. */
  static Shared store() {
    String name = "s" + NAMES.incrementAndGet();
    Shared shared = new Shared("test:" + name);
    STORES.put(name, shared);
    return shared;
  }

  @Override
  public String scheme() {
    return "test";
  }

  @Override
  public String form() {
    return "test:NAME";
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    Shared shared = STORES.get(address.place());
    if (shared == null) {
      throw new IllegalArgumentException("configuration store: " + address + " (expected: known)");
    }
    shared.check();
    shared.password = address.password();
    return new ForwardingConfigStore() {
      @Override
      protected ConfigStore delegate() {
        shared.check();
        return shared.store;
      }

      @Override
      public void close() {
        // The store stays open for the other servers.
      }
    };
  }
}
