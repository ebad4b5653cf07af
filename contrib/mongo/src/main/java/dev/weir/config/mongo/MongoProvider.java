package dev.weir.config.mongo;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.RowConfigStore;

/**
 * Opens stores in MongoDB 4.2 or newer, by an address as MongoDB's drivers have it: {@code
 * mongodb://[USER@]HOST[:PORT][,...]/DATABASE[?OPTIONS]}. Public only for the service loader.
 *
 * <p>All of the driver's options may be given, but for those that say how safe a write is; {@code
 * timeout=5s} is Weir's own and bounds each call. The password is given apart.
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
