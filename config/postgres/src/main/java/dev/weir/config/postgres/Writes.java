package dev.weir.config.postgres;

import dev.weir.config.rows.Rows.Batch;
import dev.weir.config.rows.Rows.Table;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The writes of an update: one statement for all puts of a table, and one for its deletions. */
final class Writes implements Batch {
  private final Map<Table, SortedMap<byte[], byte[]>> puts = new EnumMap<>(Table.class);
  private final Map<Table, SortedMap<byte[], byte[]>> deletions = new EnumMap<>(Table.class);

  private static SortedMap<byte[], byte[]> of(
      Map<Table, SortedMap<byte[], byte[]>> tables, Table table) {
    return tables.computeIfAbsent(table, each -> new TreeMap<>(Arrays::compareUnsigned));
  }

  @Override
  public void put(Table table, byte[] key, byte[] value) {
    of(deletions, table).remove(key);
    of(puts, table).put(key, value);
  }

  @Override
  public void delete(Table table, byte[] key) {
    of(puts, table).remove(key);
    of(deletions, table).put(key, key);
  }

  /** Runs all writes: a statement for each table and kind. */
  void run(Connection connection) throws SQLException {
    for (Map.Entry<Table, SortedMap<byte[], byte[]>> table : deletions.entrySet()) {
      if (!table.getValue().isEmpty()) {
        Sql sql = Sql.of(table.getKey());
        run(connection, sql.delete(), sql.finders(table.getValue().keySet()));
      }
    }
    for (Map.Entry<Table, SortedMap<byte[], byte[]>> table : puts.entrySet()) {
      SortedMap<byte[], byte[]> rows = table.getValue();
      if (!rows.isEmpty()) {
        run(
            connection,
            Sql.of(table.getKey()).upsert(),
            rows.keySet().toArray(new byte[0][]),
            rows.values().toArray(new byte[0][]));
      }
    }
  }

  private static void run(Connection connection, String sql, byte[][]... columns)
      throws SQLException {
    List<Array> arrays = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (byte[][] column : columns) {
        Array array = connection.createArrayOf("bytea", column);
        arrays.add(array);
        statement.setArray(arrays.size(), array);
      }
      statement.executeUpdate();
    } finally {
      for (Array array : arrays) {
        array.free();
      }
    }
  }
}
