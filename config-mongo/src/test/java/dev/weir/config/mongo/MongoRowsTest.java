package dev.weir.config.mongo;

import dev.weir.Ticker;
import dev.weir.config.LoggedRows;
import dev.weir.config.Rows;
import dev.weir.config.RowsContract;
import dev.weir.config.StoreAddress;

class MongoRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    MongoSettings settings = MongoSettings.of(StoreAddress.parse(Mongo.newAddress(), ""));
    return new LoggedRows(MongoItems.open(settings, Ticker.wall()), Ticker.system());
  }
}
