package dev.weir.config.rocksdb;

import dev.weir.Ticker;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.RowsContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class RocksRowsTest extends RowsContract {
  @TempDir Path folder;

  @Override
  protected Rows createRows() {
    return RocksRows.open(
        new RocksSettings(folder, 1 << 20, 1 << 20, false), Ticker.system(), Ticker.wall());
  }
}
