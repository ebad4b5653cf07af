package dev.weir.config.rows;

import dev.weir.config.ConfigException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The interface of a database on which a {@link RowConfigStore} can be built: ordered rows of bytes
 * with atomic, durable updates. Keys are in the order of their bytes as unsigned numbers. All
 * methods block for a bounded time, are safe for use by many threads, and throw a {@link
 * ConfigException} if the database fails.
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

  /** A reader of rows; outside of an update it reads what was last committed. */
  interface Reader {
    /** Returns the value of each key, or null where there is none, in the order of the keys. */
    List<byte @Nullable []> get(Table table, List<byte[]> keys);
  }

  /** The writes of an update; the last one for a key counts. */
  interface Batch {
    void put(Table table, byte[] key, byte[] value);

    void delete(Table table, byte[] key);
  }

  /** An update; it must have no other effects, since the database may run it again. */
  interface Update<T> {
    T run(Reader reader, Batch batch, long wallNanos);
  }

  /** Returns the values of keys at one moment; see {@link Reader#get}. */
  List<byte @Nullable []> get(Table table, List<byte[]> keys);

  /**
   * Returns the rows from one key to another, in the order of their keys.
   *
   * @param from the first key
   * @param to the first key behind the range, or null for all to the end
   * @param limit at least 1
   */
  List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit);

  /**
   * Runs an update. No other update runs at the same time, in this or another process, and it sees
   * all earlier ones. When this method returns, every later reader sees all of its writes, and they
   * are on disk. An update that throws writes nothing.
   */
  <T> T update(Update<T> update);

  /**
   * Writes one row, or deletes it if the value is null, outside of updates; a crash may undo that.
   */
  void put(Table table, byte[] key, byte @Nullable [] value);

  /** Returns the database's wall clock, in nanoseconds since the epoch. */
  long wallNanos();

  @Override
  void close();
}
