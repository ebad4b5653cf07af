package dev.weir.config.postgres;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The schema's tables: creates them, or migrates those of an older version of Weir. */
final class Schema {
  /*
   * Why is a record found by a hash? A subject may have some 6,000 bytes, and an index takes at
   * most 2,704. The hash also selects the record's partition, so tables of 10^9 records stay small,
   * and can be spread over several servers. Pages are in the order of the keys, by an index of
   * their first bytes; only keys that agree in all of those bytes are sorted.
   */

  /**
   * The migrations: the step with index i makes version i + 1. A step that was released is never
   * changed.
   */
  private static final List<String> STEPS =
      List.of(
          """
          create table meta (k bytea primary key, v bytea not null);
          create table revision (k bytea primary key, v bytea not null);
          create table text (k bytea primary key, v bytea not null);
          create table entry (k bytea primary key, v bytea not null);
          create table change (k bytea primary key, v bytea not null);
          create table node (k bytea primary key, v bytea not null);
          create table record (
            h bytea primary key, -- SHA-256 of k
            k bytea not null,
            v bytea not null
          ) partition by hash (h);
          do $$ begin
            for i in 0..15 loop
              execute format(
                'create table record_%s partition of record'
                ' for values with (modulus 16, remainder %s)', i, i);
            end loop;
          end $$;
          create index record_order on record (substr(k, 1, 1000));
          """);

  private final PostgresSettings settings;

  Schema(PostgresSettings settings) {
    this.settings = settings;
  }

  /**
   * Runs the missing steps in the connection's transaction, which holds the writers' lock.
   *
   * @throws ConfigException if a newer version of Weir, or another program, made the tables
   */
  void update(Connection connection) throws SQLException {
    int version = version(connection);
    if (version > STEPS.size()) {
      throw new ConfigException(
          Kind.DAMAGED,
          "%s: schema %s has version %d (expected: at most %d; a newer version of Weir made it)"
              .formatted(settings, settings.schema(), version, STEPS.size()));
    }
    try (Statement statement = connection.createStatement()) {
      for (int next = version; next < STEPS.size(); next++) {
        statement.execute(STEPS.get(next));
        statement.execute("insert into migration (version) values (" + (next + 1) + ")");
      }
    }
  }

  /**
   * Returns the version of the tables, or 0 if there are none; in that case creates the schema and
   * the table of the version.
   */
  private int version(Connection connection) throws SQLException {
    String tables =
        text(
            connection,
            "select string_agg(c.relname, ', ' order by c.relname) from pg_class c"
                + " join pg_namespace n on n.oid = c.relnamespace"
                + " where n.nspname = ? and c.relkind in ('r', 'p', 'v', 'f', 'm')");
    if (tables.isEmpty()) {
      try (Statement statement = connection.createStatement()) {
        if (text(connection, "select nspname from pg_namespace where nspname = ?").isEmpty()) {
          statement.execute("create schema " + settings.schema());
        }
        statement.execute(
            "create table migration"
                + " (version integer primary key, at timestamptz not null default now())");
      }
      return 0;
    }
    if (!List.of(tables.split(", ")).contains("migration")) {
      throw new ConfigException(
          Kind.DAMAGED,
          "%s: schema %s has tables that are not Weir's: %s (expected: another ?schema=NAME)"
              .formatted(settings, settings.schema(), shortened(tables)));
    }
    try (Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("select coalesce(max(version), 0) from migration")) {
      return found.next() ? found.getInt(1) : 0;
    }
  }

  private String text(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, settings.schema());
      try (ResultSet found = statement.executeQuery()) {
        String text = found.next() ? found.getString(1) : null;
        return text == null ? "" : text;
      }
    }
  }

  private static String shortened(String tables) {
    return tables.length() > 80 ? tables.substring(0, 80) + "..." : tables;
  }
}
