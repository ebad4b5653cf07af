package dev.weir.config.rows;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.SharedItems;
import org.junit.jupiter.api.Nested;

/** The contracts of rows and of stores on single items, however small the transactions are. */
class LoggedRowsContractTest {
  private static Rows rows(Items.Limits limits) {
    SharedItems items = new SharedItems(limits, Ticker.wall());
    return new LoggedRows(items.process(SharedItems.UNDISTURBED), Ticker.system());
  }

  private static Items.Limits large(Items.Limits limits) {
    return new Items.Limits(limits.writes(), limits.bytes(), 300_000, limits.withState());
  }

  @Nested
  class RowsInOneTransactionTest extends RowsContract {
    @Override
    protected Rows createRows() {
      return rows(large(SharedItems.TRANSACTIONS));
    }
  }

  @Nested
  class RowsInSmallTransactionsTest extends RowsContract {
    @Override
    protected Rows createRows() {
      return rows(large(SharedItems.SMALL_TRANSACTIONS));
    }
  }

  @Nested
  class RowsOneByOneTest extends RowsContract {
    @Override
    protected Rows createRows() {
      return rows(large(SharedItems.SINGLE_ITEMS));
    }
  }

  @Nested
  class StoreInSmallTransactionsTest extends ConfigStoreContract {
    @Override
    public ConfigStore createStore() {
      return RowConfigStore.open(rows(large(SharedItems.SMALL_TRANSACTIONS)));
    }
  }

  @Nested
  class StoreOneByOneTest extends ConfigStoreContract {
    @Override
    public ConfigStore createStore() {
      return RowConfigStore.open(rows(large(SharedItems.SINGLE_ITEMS)));
    }
  }
}
