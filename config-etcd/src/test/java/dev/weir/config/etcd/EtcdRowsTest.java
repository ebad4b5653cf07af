package dev.weir.config.etcd;

import dev.weir.Ticker;
import dev.weir.config.LoggedRows;
import dev.weir.config.Rows;
import dev.weir.config.RowsContract;
import dev.weir.config.StoreAddress;

class EtcdRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    EtcdSettings settings = EtcdSettings.of(StoreAddress.parse(Etcd.newAddress(), ""));
    return new LoggedRows(new EtcdItems(settings, Ticker.system(), Ticker.wall()), Ticker.system());
  }
}
