package dev.weir.config.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import dev.weir.config.rows.Rows.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Folders that were made by a version of Weir with other tables. */
class TablesTest {
  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // Set before each test.
  private Head head;

  @BeforeEach
  void write() {
    try (ConfigStore store = open()) {
      for (long i = 0; i < 12; i++) {
        Writer.write(store, i);
      }
      head = store.head();
    }
  }

  private ConfigStore open() {
    return ConfigStores.open("rocksdb:" + folder + "?min-free=1MB");
  }

  /** An action of another version on the database. */
  private interface Step {
    void run(RocksDB database, List<ColumnFamilyHandle> tables) throws RocksDBException;
  }

  private void asAnotherVersion(Step step) throws RocksDBException {
    List<ColumnFamilyDescriptor> names = new ArrayList<>();
    names.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY));
    for (Table table : Table.values()) {
      names.add(new ColumnFamilyDescriptor(table.name().toLowerCase(Locale.ROOT).getBytes(UTF_8)));
    }
    List<ColumnFamilyHandle> tables = new ArrayList<>();
    try (RocksDB database = RocksDB.open(folder.resolve("config").toString(), names, tables)) {
      step.run(database, tables);
      tables.forEach(ColumnFamilyHandle::close);
    }
  }

  @Test
  void folderWithoutATable_getsIt() throws RocksDBException {
    asAnotherVersion(
        (database, tables) -> {
          for (ColumnFamilyHandle table : tables) {
            if (new String(table.getName(), UTF_8).equals("node")) {
              database.dropColumnFamily(table);
            }
          }
        });
    for (int round = 0; round < 2; round++) {
      try (ConfigStore store = open()) {
        assertThat(store.nodes()).hasSize(round);
        assertThat(Contents.verify(store).position()).isGreaterThanOrEqualTo(head.position());
        Writer.write(store, 12 + round);
        assertThat(store.nodes()).hasSize(round + 1);
      }
    }
  }

  @Test
  void folderWithAnUnknownTable_isRefused() throws RocksDBException {
    asAnotherVersion(
        (database, tables) ->
            tables.add(
                database.createColumnFamily(new ColumnFamilyDescriptor("later".getBytes(UTF_8)))));
    assertThatThrownBy(this::open)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED))
        .hasMessageMatching(
            ".*/config: table later \\(expected: only .*; a newer version of Weir made it\\)");
  }
}
