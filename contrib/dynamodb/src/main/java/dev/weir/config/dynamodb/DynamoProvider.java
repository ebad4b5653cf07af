package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.RowConfigStore;

/**
 * A provider of stores in DynamoDB: {@code dynamodb:TABLE?region=REGION}. Public only for the
 * service loader.
 *
 * <p>Options: {@code region}, {@code endpoint=http://HOST:PORT} for another service than Amazon's,
 * and {@code timeout=5s} for each call. The credentials, and a region that is not given, come from
 * the usual places of Amazon's SDK. If the table is missing, it is created with billing by request.
 */
public final class DynamoProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "dynamodb";
  }

  @Override
  public String form() {
    return DynamoSettings.FORM;
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    DynamoItems items =
        DynamoItems.open(DynamoSettings.of(address), Ticker.system(), Ticker.wall());
    try {
      return RowConfigStore.open(new LoggedRows(items, Ticker.system()));
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
  }
}
