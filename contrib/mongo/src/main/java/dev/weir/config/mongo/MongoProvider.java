package dev.weir.config.mongo;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.RowConfigStore;

/**
 * A provider of stores in MongoDB 4.2 or newer, by an address in the form of MongoDB's drivers:
 * {@code mongodb://[USER@]HOST[:PORT][,...]/DATABASE[?OPTIONS]}. Public only for the service
 * loader.
 *
 * <p>All of the driver's options may be given, except those that set how safe a write is and the
 * driver's timeouts; {@code timeout=5s} is Weir's own option and bounds each call. The password is
 * given separately.
 */
public final class MongoProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "mongodb";
  }

  @Override
  public String form() {
    return MongoSettings.FORM;
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    MongoItems items = MongoItems.open(MongoSettings.of(address), Ticker.wall());
    try {
      return RowConfigStore.open(new LoggedRows(items, Ticker.system()));
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
  }
}
