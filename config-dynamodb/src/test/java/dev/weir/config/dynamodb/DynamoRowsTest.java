package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.LoggedRows;
import dev.weir.config.Rows;
import dev.weir.config.RowsContract;
import dev.weir.config.StoreAddress;
import org.junit.jupiter.api.Tag;

@Tag("container")
class DynamoRowsTest extends RowsContract {
  @Override
  protected Rows createRows() {
    DynamoSettings settings = DynamoSettings.of(StoreAddress.parse(Dynamo.newAddress(), ""));
    return new LoggedRows(
        DynamoItems.open(settings, Ticker.system(), Ticker.wall()), Ticker.system());
  }
}
