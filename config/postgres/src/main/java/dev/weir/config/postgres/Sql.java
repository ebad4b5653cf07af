package dev.weir.config.postgres;

import dev.weir.config.rows.Rows.Table;
import dev.weir.internal.Choice;
import dev.weir.internal.Sha256;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;

/**
 * The statements of a table. Columns: {@code k} the key and {@code v} the value; records also have
 * {@code h}, the SHA-256 of the key, by which they are found.
 *
 * @param select by an array of keys or hashes; each is looked up on its own, even where the planner
 *     would prefer to read a whole table, and in its own partition only
 * @param scan from a key on
 * @param scanTo from a key up to another
 * @param hashed whether rows are found by a hash; each key is then a parameter of a scan twice
 * @param upsert by an array of keys and one of values
 * @param delete by an array of keys or hashes
 */
record Sql(
    String select, String scan, String scanTo, boolean hashed, String upsert, String delete) {
  private static final Map<Table, Sql> TABLES = new EnumMap<>(Table.class);

  static {
    for (Table table : Table.values()) {
      TABLES.put(table, table == Table.RECORD ? hashed("record") : plain(name(table)));
    }
  }

  static Sql of(Table table) {
    return TABLES.getOrDefault(table, plain(name(table)));
  }

  private static String name(Table table) {
    return Choice.name(table);
  }

  /** Returns the values by which the rows with these keys are found. */
  byte[][] finders(Collection<byte[]> keys) {
    return keys.stream().map(key -> hashed ? Sha256.of(key) : key).toArray(byte[][]::new);
  }

  private static String select(String table, String by) {
    return ("select r.k, r.v from unnest(?) as wanted (x)"
            + " cross join lateral (select k, v from %1$s where %2$s = wanted.x limit 1) r")
        .formatted(table, by);
  }

  private static Sql plain(String table) {
    return new Sql(
        select(table, "k"),
        "select k, v from " + table + " where k >= ? order by k limit ?",
        "select k, v from " + table + " where k >= ? and k < ? order by k limit ?",
        false,
        "insert into "
            + table
            + " (k, v) select * from unnest(?, ?) on conflict (k) do update set v = excluded.v",
        "delete from " + table + " where k = any(?)");
  }

  private static Sql hashed(String table) {
    String from =
        "select k, v from "
            + table
            + " where substr(k, 1, 1000) >= substr(?::bytea, 1, 1000) and k >= ?";
    String order = " order by substr(k, 1, 1000), k limit ?";
    return new Sql(
        select(table, "h"),
        from + order,
        from + " and substr(k, 1, 1000) <= substr(?::bytea, 1, 1000) and k < ?" + order,
        true,
        "insert into "
            + table
            + " (h, k, v) select sha256(k), k, v from unnest(?, ?) as t (k, v)"
            + " on conflict (h) do update set v = excluded.v",
        "delete from " + table + " where h = any(?)");
  }
}
