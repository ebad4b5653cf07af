package dev.weir.config.rows;

import dev.weir.config.ConfigException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ordered rows of bytes with atomic, durable updates: what a database must offer so that a {@link
 * RowConfigStore} can be built on it. Keys are in the order of their bytes as unsigned numbers. All
 * methods block for a bounded time, are safe for use by many threads, and throw a {@link
 * ConfigException} where the database fails.
 */
public interface Rows extends AutoCloseable {
  /** The kinds of rows, each with keys of its own. */
  enum Table {
    META,
    REVISION,
    TEXT,
    RECORD,
    ENTRY,
    CHANGE,
    NODE
  }

  /** A row; the arrays belong to the caller. */
  final class Row {
    private final byte[] key;
    private final byte[] value;

    public Row(byte[] key, byte[] value) {
      this.key = key;
      this.value = value;
    }

    public byte[] key() {
      return key;
    }

    public byte[] value() {
      return value;
    }
  }

  /** Reads, outside of an update what was last committed. */
  interface Reader {
    /** Returns the value of each key, or null where there is none, in the order of the keys. */
    List<byte @Nullable []> get(Table table, List<byte[]> keys);
  }

  /** What is to be written; the last word for a key counts. */
  interface Batch {
    void put(Table table, byte[] key, byte[] value);

    void delete(Table table, byte[] key);
  }

  /** An update; it may be run again if the database asks for it, so it does nothing else. */
  interface Update<T> {
    T run(Reader reader, Batch batch, long wallNanos);
  }

  /** Returns the values of keys, as {@link Reader#get}, at one moment. */
  List<byte @Nullable []> get(Table table, List<byte[]> keys);

  /**
   * Returns the rows from one key to another, in the order of their keys.
   *
   * @param from the first key
   * @param to the first key that does not belong to them any more, or null if all do
   * @param limit at least 1
   */
  List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit);

  /**
   * Runs an update: no other one runs at the same time, in this or another process, and it sees
   * what those before it have written. All that it writes, or nothing, is there for every later
   * reader, and is on disk when this method returns. An update that throws writes nothing.
   */
  <T> T update(Update<T> update);

  /** Writes or (with null) deletes one row, outside of updates; a crash may take that back. */
  void put(Table table, byte[] key, byte @Nullable [] value);

  /** Returns the database's wall clock, in nanoseconds since the epoch. */
  long wallNanos();

  @Override
  void close();
}
