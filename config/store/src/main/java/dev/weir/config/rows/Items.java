package dev.weir.config.rows;

import dev.weir.config.ConfigException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Single items of bytes, and one item among them that is compared and set: what a database without
 * large transactions must offer so that {@link LoggedRows} can be built on it. Items are in tables,
 * which are named by up to 20 letters from a to z; keys are in the order of their bytes as unsigned
 * numbers. {@code toString()} returns the database's address without its password, for messages.
 *
 * <p>All methods block for a bounded time, are safe for use by many threads, and throw a {@link
 * ConfigException} where the database fails. A reader sees every write that was acknowledged before
 * it began to read. Nothing is tried again by itself once it may have been made.
 */
public interface Items extends AutoCloseable {
  /** How long a deleted row's mark stays at least, in seconds: much longer than any call lasts. */
  long TOMBSTONE_SECONDS = 86_400;

  /**
   * What a database takes at once.
   *
   * @param writes of one {@link #transact}, at least 1
   * @param bytes of the keys and values of one {@link #transact}; a single write may have more
   * @param partBytes of one value that {@link #put} takes, at least 1
   * @param withState whether a {@link #transact} that writes is atomic together with the state
   */
  record Limits(int writes, int bytes, int partBytes, boolean withState) {}

  /**
   * The item that is compared and set: how many updates there were, and whether the last one is
   * still to be written to its rows.
   *
   * @param version the number of updates, 0 in a new database, which has no such item
   * @param pending the batch that is to be written, printable ASCII, or empty if all is written
   */
  record State(long version, String pending) {
    /** What a new database has. */
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
     * An item.
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
     * A write.
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
   * <p>With {@link Limits#withState} this is one transaction of all of it. Without, either there
   * are no writes, or the two states are the same: then the state is not compared, each item is
   * written by itself, and one that has a higher version must stay.
   *
   * @param next the same as the expected one for writes only
   * @param writes within the limits, each of another key
   * @return false if nothing of it was done, since the state is another, or since somebody else was
   *     in the way: read the state again
   * @throws ConfigException it may or may not have been made
   */
  boolean transact(State expected, State next, List<Write> writes);

  /** Returns for each key its item, also the mark of a deleted row, or null if there is none. */
  List<@Nullable Item> get(String table, List<byte[]> keys);

  /**
   * Returns items from one key to another in the order of their keys, marks of deleted rows too.
   *
   * @param from the first key
   * @param to the first key that does not belong to them any more, or null if all do
   * @param limit at least 1; fewer are returned only if there are no more
   */
  List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit);

  /** Writes an item, whatever is there. */
  void put(String table, byte[] key, byte[] value, long version);

  /** Removes an item, whatever is there, and leaves no mark. */
  void delete(String table, byte[] key);

  /** Returns the database's wall clock, in nanoseconds since the epoch. */
  long wallNanos();

  /** May be called again. */
  @Override
  void close();
}
