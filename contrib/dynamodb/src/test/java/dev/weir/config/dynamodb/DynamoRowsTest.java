package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.RowsContract;
import org.junit.jupiter.api.Tag;

@Tag("service")
class DynamoRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    DynamoSettings settings = DynamoSettings.of(StoreAddress.parse(Dynamo.newAddress(), ""));
    return new LoggedRows(
        DynamoItems.open(settings, Ticker.system(), Ticker.wall()), Ticker.system());
  }
}
