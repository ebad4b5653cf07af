package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.Rows;
import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows in PostgreSQL, a table for each kind, shared by many servers. */
final class PostgresRows implements Rows {
  /*
   * Why an advisory lock? Updates must be in one order, the same for their numbers and for their
   * commits: a sequence gives numbers that can be committed out of order, and a reader that has
   * read a higher one skips the lower. A lock of the transaction makes all writers wait for each
   * other's commit; writes are few. It is taken before anything is read, at the level "read
   * committed", where each statement sees what was committed before it began.
   */
  private final PostgresSettings settings;
  private final Connections connections;
  private final Ticker ticker;

  /** What the database's wall clock is ahead of the ticker, as the last update found it. */
  private volatile long aheadNanos;

  private PostgresRows(PostgresSettings settings, Ticker ticker) {
    this.settings = settings;
    this.ticker = ticker;
    connections = new Connections(settings);
  }

  /**
   * Opens the database, and makes the schema and its tables if they are not there.
   *
   * @throws dev.weir.config.ConfigException if it does not answer
   */
  static PostgresRows open(PostgresSettings settings, Ticker ticker) {
    PostgresRows rows = new PostgresRows(settings, ticker);
    try {
      rows.makeTables();
      return rows;
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
  }

  private void makeTables() {
    boolean unused =
        connections.use(
            connection -> {
              lock(connection); // Two servers that start at once would meet in "if not exists".
              if (missing(connection)) {
                try (Statement statement = connection.createStatement()) {
                  statement.execute("create schema if not exists " + settings.schema());
                  for (Table each : Table.values()) {
                    statement.execute(
                        "create table if not exists "
                            + table(each)
                            + " (k bytea primary key, v bytea not null)");
                  }
                }
              }
              return true;
            });
  }

  /** Asked first, so that a user without the right to make tables can use those that are there. */
  private boolean missing(Connection connection) throws SQLException {
    for (Table each : Table.values()) {
      try (PreparedStatement statement = connection.prepareStatement("select to_regclass(?)")) {
        statement.setString(1, table(each));
        try (ResultSet found = statement.executeQuery()) {
          if (!found.next() || found.getString(1) == null) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private String table(Table table) {
    return settings.schema() + "." + table.name().toLowerCase(Locale.ROOT);
  }

  /** Takes the lock of this schema until the transaction ends, and sets the clock. */
  private long lock(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select pg_advisory_xact_lock(hashtext('weir'), hashtext(?))")) {
      statement.setString(1, settings.schema());
      statement.execute();
    }
    try (Statement statement = connection.createStatement();
        ResultSet clock =
            statement.executeQuery(
                "select (extract(epoch from clock_timestamp()) * 1000000)::bigint")) {
      if (!clock.next()) {
        throw new SQLException("the clock has no row");
      }
      long wallNanos = clock.getLong(1) * 1_000;
      aheadNanos = wallNanos - ticker.nanos();
      return wallNanos;
    }
  }

  @Override
  public List<byte @Nullable []> get(Table table, List<byte[]> keys) {
    return keys.isEmpty() ? List.of() : connections.use(connection -> get(connection, table, keys));
  }

  private List<byte @Nullable []> get(Connection connection, Table table, List<byte[]> keys)
      throws SQLException {
    Map<ByteBuffer, byte[]> found = new HashMap<>();
    Array wanted = connection.createArrayOf("bytea", keys.toArray(new byte[0][]));
    try (PreparedStatement statement =
        connection.prepareStatement("select k, v from " + table(table) + " where k = any(?)")) {
      statement.setArray(1, wanted);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.put(ByteBuffer.wrap(rows.getBytes(1)), rows.getBytes(2));
        }
      }
    } finally {
      wanted.free();
    }
    List<byte @Nullable []> values = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      values.add(found.get(ByteBuffer.wrap(key)));
    }
    return values;
  }

  @Override
  public List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    return connections.use(
        connection -> {
          String sql =
              "select k, v from "
                  + table(table)
                  + " where k >= ?"
                  + (to == null ? "" : " and k < ?")
                  + " order by k limit ?";
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int next = 1;
            statement.setBytes(next++, from);
            if (to != null) {
              statement.setBytes(next++, to);
            }
            statement.setInt(next, limit);
            List<Row> rows = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
              while (found.next()) {
                rows.add(new Row(found.getBytes(1), found.getBytes(2)));
              }
            }
            return rows;
          }
        });
  }

  @Override
  public <T> T update(Update<T> update) {
    return connections.use(
        connection -> {
          long wallNanos = lock(connection);
          Writes writes = new Writes();
          T result;
          try {
            result = update.run(reader(connection), writes, wallNanos);
          } catch (ReadFailure e) {
            throw e.failure;
          }
          for (Table table : Table.values()) {
            writes.run(connection, table, table(table));
          }
          return result;
        });
  }

  private Reader reader(Connection connection) {
    return (table, keys) -> {
      try {
        return keys.isEmpty() ? List.of() : get(connection, table, keys);
      } catch (SQLException e) {
        throw new ReadFailure(e);
      }
    };
  }

  /** Brings an error through an update, which knows of no database. */
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
        connections.use(
            connection -> {
              try (Statement statement = connection.createStatement()) {
                statement.execute("set local synchronous_commit = off");
              }
              writes.run(connection, table, table(table));
              return true;
            });
  }

  @Override
  public long wallNanos() {
    return ticker.nanos() + aheadNanos;
  }

  @Override
  public void close() {
    connections.close();
  }
}
