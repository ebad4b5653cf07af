package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.rows.Rows;
import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows in PostgreSQL, shared by many servers, with a table for each kind. */
final class PostgresRows implements Rows {
  private static final String CLOCK =
      "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";

  private final Connections connections;

  private PostgresRows(PostgresSettings settings, Ticker ticker) {
    connections = new Connections(settings, ticker);
  }

  /**
   * Opens the database, and creates the schema and its tables if they are missing.
   *
   * @throws dev.weir.config.ConfigException if it does not answer, or holds another program's
   *     tables
   */
  static PostgresRows open(PostgresSettings settings, Ticker ticker) {
    PostgresRows rows = new PostgresRows(settings, ticker);
    try {
      boolean unused =
          rows.connections.transaction(
              connection -> {
                new Schema(settings).update(connection);
                return true;
              });
      return rows;
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
  }

  private static long clock(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet clock = statement.executeQuery(CLOCK)) {
      if (!clock.next()) {
        throw new SQLException("the clock has no row");
      }
      return clock.getLong(1) * 1_000;
    }
  }

  @Override
  public List<byte @Nullable []> get(Table table, List<byte[]> keys) {
    return keys.isEmpty()
        ? List.of()
        : connections.statement(connection -> get(connection, table, keys));
  }

  private static List<byte @Nullable []> get(Connection connection, Table table, List<byte[]> keys)
      throws SQLException {
    Map<ByteBuffer, byte[]> found = new HashMap<>();
    Array wanted = connection.createArrayOf("bytea", Sql.of(table).finders(keys));
    try (PreparedStatement statement = connection.prepareStatement(Sql.of(table).select())) {
      statement.setArray(1, wanted);
      for (Row row : rows(statement)) {
        found.put(ByteBuffer.wrap(row.key()), row.value());
      }
    } finally {
      wanted.free();
    }
    List<byte @Nullable []> values = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      byte[] value = found.get(ByteBuffer.wrap(key));
      values.add(value == null ? null : value.clone()); // A key may occur twice.
    }
    return values;
  }

  private static List<Row> rows(PreparedStatement statement) throws SQLException {
    List<Row> rows = new ArrayList<>();
    try (ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        rows.add(new Row(found.getBytes(1), found.getBytes(2)));
      }
    }
    return rows;
  }

  @Override
  public List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    if (to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return List.of();
    }
    Sql sql = Sql.of(table);
    int times = sql.hashed() ? 2 : 1;
    return connections.statement(
        connection -> {
          try (PreparedStatement statement =
              connection.prepareStatement(to == null ? sql.scan() : sql.scanTo())) {
            int next = 1;
            for (int i = 0; i < times; i++) {
              statement.setBytes(next++, from);
            }
            for (int i = 0; to != null && i < times; i++) {
              statement.setBytes(next++, to);
            }
            statement.setInt(next, limit);
            return rows(statement);
          }
        });
  }

  @Override
  public <T> T update(Update<T> update) {
    return connections.transaction(
        connection -> {
          Writes writes = new Writes();
          T result;
          try {
            result = update.run(reader(connection), writes, clock(connection));
          } catch (ReadFailure e) {
            throw e.failure;
          }
          writes.run(connection);
          return result;
        });
  }

  private static Reader reader(Connection connection) {
    return (table, keys) -> {
      try {
        return keys.isEmpty() ? List.of() : get(connection, table, keys);
      } catch (SQLException e) {
        throw new ReadFailure(e);
      }
    };
  }

  /**
   * An unchecked exception that carries an SQL error through an update, whose signature has none.
   */
  private static final class ReadFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    final SQLException failure;

    ReadFailure(SQLException failure) {
      super(failure);
      this.failure = failure;
    }
  }

  @Override
  public void put(Table table, byte[] key, byte @Nullable [] value) {
    Writes writes = new Writes();
    if (value == null) {
      writes.delete(table, key);
    } else {
      writes.put(table, key, value);
    }
    boolean unused =
        connections.statement(
            connection -> {
              writes.run(connection);
              return true;
            });
  }

  @Override
  public long wallNanos() {
    return connections.statement(PostgresRows::clock);
  }

  @Override
  public void close() {
    connections.close();
  }
}
