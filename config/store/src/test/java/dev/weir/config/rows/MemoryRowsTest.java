package dev.weir.config.rows;

import dev.weir.testkit.FakeTicker;

class MemoryRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    return new MemoryRows(new FakeTicker(1));
  }
}
