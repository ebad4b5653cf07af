package dev.weir.config.mongo;

import dev.weir.Ticker;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.RowsContract;

class MongoRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    MongoSettings settings = MongoSettings.of(StoreAddress.parse(Mongo.newAddress(), ""));
    return new LoggedRows(MongoItems.open(settings, Ticker.wall()), Ticker.system());
  }
}
