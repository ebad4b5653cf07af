package dev.weir.config.etcd;

import dev.weir.Ticker;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.RowsContract;

class EtcdRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    EtcdSettings settings = EtcdSettings.of(StoreAddress.parse(Etcd.newAddress(), ""));
    return new LoggedRows(new EtcdItems(settings, Ticker.system(), Ticker.wall()), Ticker.system());
  }
}
