package dev.weir.bench;

import dev.weir.config.StoreAddress;
import dev.weir.config.rocksdb.RocksProvider;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.Rows.Table;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/** A database in a folder that keeps entries of bytes; a batch is on disk when the call returns. */
interface Entries extends AutoCloseable {
  void put(Map<byte[], byte[]> entries) throws Exception;

  /** Returns whether the key exists. */
  boolean has(byte[] key) throws Exception;

  @Override
  void close() throws SQLException;

  /** A way to open a database in a new folder. */
  interface Opener {
    Entries open(Path folder) throws Exception;
  }

  /** Opens Weir's own rows, with the server's options. */
  static Entries rocksDb(Path folder) {
    Rows rows = RocksProvider.rows(StoreAddress.parse("rocksdb:" + folder, ""));
    return new Entries() {
      @Override
      public void put(Map<byte[], byte[]> entries) {
        rows.update(
            (reader, batch, wall) -> {
              entries.forEach((key, value) -> batch.put(Table.RECORD, key, value));
              return entries.size();
            });
      }

      @Override
      public boolean has(byte[] key) {
        return rows.get(Table.RECORD, List.of(key)).get(0) != null;
      }

      @Override
      public void close() {
        rows.close();
      }
    };
  }

  /** Opens MVStore of H2, committed and synced after each batch. */
  static Entries mvStore(Path folder) {
    MVStore store =
        new MVStore.Builder()
            .fileName(folder.resolve("entries.mv").toString())
            .cacheSize(64)
            .autoCommitDisabled()
            .open();
    MVMap<byte[], byte[]> map = store.openMap("entries");
    return new Entries() {
      @Override
      public void put(Map<byte[], byte[]> entries) {
        entries.forEach(map::put);
        store.commit();
        store.sync();
      }

      @Override
      public boolean has(byte[] key) {
        return map.containsKey(key);
      }

      @Override
      public void close() {
        store.close();
      }
    };
  }

  /** Opens SQLite with a write-ahead log that is synced at each commit. */
  static Entries sqlite(Path folder) throws SQLException {
    Connection connection =
        DriverManager.getConnection(
            "jdbc:sqlite:" + folder.resolve("entries.db") + "?journal_mode=WAL&synchronous=FULL");
    try (Statement statement = connection.createStatement()) {
      statement.execute("pragma cache_size = -65536");
      statement.execute("create table entry (k blob primary key, v blob) without rowid");
    }
    connection.setAutoCommit(false);
    PreparedStatement put =
        connection.prepareStatement("insert or replace into entry (k, v) values (?, ?)");
    PreparedStatement get = connection.prepareStatement("select v from entry where k = ?");
    return new Entries() {
      @Override
      public void put(Map<byte[], byte[]> entries) throws SQLException {
        for (Map.Entry<byte[], byte[]> entry : entries.entrySet()) {
          put.setBytes(1, entry.getKey());
          put.setBytes(2, entry.getValue());
          put.addBatch();
        }
        int[] unused = put.executeBatch();
        connection.commit();
      }

      @Override
      public boolean has(byte[] key) throws SQLException {
        get.setBytes(1, key);
        try (ResultSet found = get.executeQuery()) {
          return found.next();
        }
      }

      @Override
      public void close() throws SQLException {
        connection.close();
      }
    };
  }
}
