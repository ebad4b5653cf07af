package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.RowsContract;

class PostgresRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    StoreAddress address = StoreAddress.parse(Postgres.newAddress(), "");
    return PostgresRows.open(PostgresSettings.of(address), Ticker.system());
  }
}
