package dev.weir.config.rows;

import dev.weir.config.ConfigException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The interface of a database without large transactions, on which {@link LoggedRows} can be built:
 * single items of bytes, and one item among them that is compared and set. Items are in tables,
 * which are named by up to 20 letters from a to z; keys are in the order of their bytes as unsigned
 * numbers. {@code toString()} returns the database's address without its password, for messages.
 *
 * <p>All methods block for a bounded time, are safe for use by many threads, and throw a {@link
 * ConfigException} if the database fails. A reader sees every write that was acknowledged before it
 * began to read. A write that may have taken effect is not repeated automatically.
 */
public interface Items extends AutoCloseable {
  /**
   * The shortest time for which a deleted row's mark stays, in seconds: much longer than any call
   * lasts.
   */
  long TOMBSTONE_SECONDS = 86_400;

  /**
   * The limits of a database on one call.
   *
   * @param writes of one {@link #transact}, at least 1
   * @param bytes of the keys and values of one {@link #transact}; a single write may have more
   * @param partBytes the largest value of one {@link #put}, in bytes, at least 1
   * @param withState whether a {@link #transact} that writes is atomic together with the state
   */
  record Limits(int writes, int bytes, int partBytes, boolean withState) {}

  /**
   * The item that is compared and set: the number of updates, and the batch of the last one while
   * it is not in its rows yet.
   *
   * @param version the number of updates, 0 in a new database, which has no such item
   * @param pending the batch to be written, printable ASCII, or empty if all is written
   */
  record State(long version, String pending) {
    /** The state of a new database. */
    public static final State NONE = new State(0, "");

    public boolean isSettled() {
      return pending.isEmpty();
    }

    public State settled() {
      return new State(version, "");
    }
  }

  /** An item that was read; the arrays belong to the caller. */
  final class Item {
    private final byte[] key;
    private final byte @Nullable [] value;
    private final long version;

    /**
     * Creates an item.
     *
     * @param value null for the mark of a deleted row
     * @param version of the update that wrote it
     */
    public Item(byte[] key, byte @Nullable [] value, long version) {
      this.key = key;
      this.value = value;
      this.version = version;
    }

    public byte[] key() {
      return key;
    }

    public byte @Nullable [] value() {
      return value;
    }

    public long version() {
      return version;
    }
  }

  /** An item to be written. */
  final class Write {
    private final String table;
    private final byte[] key;
    private final byte @Nullable [] value;

    /**
     * Creates a write.
     *
     * @param value null to delete the row, which leaves a mark
     */
    public Write(String table, byte[] key, byte @Nullable [] value) {
      this.table = table;
      this.key = key;
      this.value = value;
    }

    public String table() {
      return table;
    }

    public byte[] key() {
      return key;
    }

    public byte @Nullable [] value() {
      return value;
    }

    public int bytes() {
      return key.length + (value == null ? 0 : value.length);
    }
  }

  Limits limits();

  /** Returns the item that is compared and set. */
  State state();

  /**
   * Compares and sets the state, and writes items with the version of the next state; an item that
   * has this version or a higher one already may stay as it is.
   *
   * <p>With {@link Limits#withState} this is one transaction. Without it, either there are no
   * writes, or the two states are the same: then the state is not compared, each item is written by
   * itself, and one that has a higher version must stay.
   *
   * @param next the same as the expected one for writes only
   * @param writes within the limits, each of another key
   * @return false if nothing was written, because the state is another or another writer was in the
   *     way: read the state again
   * @throws ConfigException if the database failed; the transaction may or may not have taken
   *     effect
   */
  boolean transact(State expected, State next, List<Write> writes);

  /** Returns for each key its item, or the mark of a deleted row, or null if there is none. */
  List<@Nullable Item> get(String table, List<byte[]> keys);

  /**
   * Returns items from one key to another in the order of their keys, including marks of deleted
   * rows.
   *
   * @param from the first key
   * @param to the first key behind the range, or null for all to the end
   * @param limit at least 1; fewer are returned only if there are no more
   */
  List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit);

  /** Writes an item, and replaces any that is stored. */
  void put(String table, byte[] key, byte[] value, long version);

  /** Removes an item, if there is one, and leaves no mark. */
  void delete(String table, byte[] key);

  /** Returns the database's wall clock, in nanoseconds since the epoch. */
  long wallNanos();

  /** Closes the database; may be called again. */
  @Override
  void close();
}
