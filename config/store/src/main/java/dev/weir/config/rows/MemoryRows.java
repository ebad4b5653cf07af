package dev.weir.config.rows;

import dev.weir.Ticker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rows in this process, which are lost when it ends. For tests, and for servers that may lose them.
 */
public final class MemoryRows implements Rows {
  private final Map<Table, SortedMap<byte[], byte[]>> tables = new EnumMap<>(Table.class);
  private final Ticker wall;

  public MemoryRows(Ticker wall) {
    this.wall = wall;
    for (Table table : Table.values()) {
      tables.put(table, new TreeMap<>(Arrays::compareUnsigned));
    }
  }

  private SortedMap<byte[], byte[]> rows(Table table) {
    SortedMap<byte[], byte[]> rows = tables.get(table);
    if (rows == null) {
      throw new IllegalStateException(table + ": no rows (expected: made with the others)");
    }
    return rows;
  }

  @Override
  public synchronized List<byte @Nullable []> get(Table table, List<byte[]> keys) {
    List<byte @Nullable []> values = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      byte[] value = rows(table).get(key);
      values.add(value == null ? null : value.clone());
    }
    return values;
  }

  @Override
  public synchronized List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    if (to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return List.of();
    }
    SortedMap<byte[], byte[]> rows = rows(table).tailMap(from);
    if (to != null) {
      rows = rows.headMap(to);
    }
    return rows.entrySet().stream()
        .limit(limit)
        .map(row -> new Row(row.getKey().clone(), row.getValue().clone()))
        .toList();
  }

  @Override
  public synchronized <T> T update(Update<T> update) {
    List<Runnable> writes = new ArrayList<>();
    T result =
        update.run(
            this::get,
            new Batch() {
              @Override
              public void put(Table table, byte[] key, byte[] value) {
                byte[] copy = value.clone();
                writes.add(() -> rows(table).put(key.clone(), copy));
              }

              @Override
              public void delete(Table table, byte[] key) {
                writes.add(() -> rows(table).remove(key));
              }
            },
            wall.nanos());
    writes.forEach(Runnable::run);
    return result;
  }

  @Override
  public synchronized void put(Table table, byte[] key, byte @Nullable [] value) {
    if (value == null) {
      rows(table).remove(key);
    } else {
      rows(table).put(key.clone(), value.clone());
    }
  }

  @Override
  public long wallNanos() {
    return wall.nanos();
  }

  @Override
  public void close() {}
}
