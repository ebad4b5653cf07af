package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.Rows;
import dev.weir.config.RowsContract;
import dev.weir.config.StoreAddress;

class PostgresRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    StoreAddress address = StoreAddress.parse(Postgres.newAddress(), "");
    return PostgresRows.open(PostgresSettings.of(address), Ticker.system());
  }
}
