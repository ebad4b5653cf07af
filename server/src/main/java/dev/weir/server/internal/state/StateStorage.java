package dev.weir.server.internal.state;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.server.settings.StartException;
import java.io.IOException;

/**
 * The storage that keeps the counts of a server's tables over its restarts, or that keeps nothing.
 * Used by one thread at a time, except for {@link #ticker()} and {@link #bytes()}.
 */
public interface StateStorage extends AutoCloseable {
  /** The storage of a server that begins with empty tables. */
  StateStorage NONE = new StateStorage() {};

  /** Returns whether anything is kept. */
  default boolean keeps() {
    return false;
  }

  /** Returns the clock that decides: that of the last run if it is still right. */
  default Ticker ticker() {
    return Ticker.system();
  }

  /**
   * Returns a table that continues the last run's, or a new one if there was none.
   *
   * @param name the name of its image
   * @param keys a word for the fingerprints by which it identifies keys
   * @throws StartException if the storage cannot be written
   */
  default MemoryStore table(String name, String keys, long maxKeys, long maxBytes)
      throws StartException {
    return new MemoryStore(maxKeys, maxBytes);
  }

  /**
   * Marks that a server runs; to be called before it decides anything.
   *
   * @throws StartException if the storage cannot be written
   */
  default void begin() throws StartException {}

  /** Returns the bytes of memory of the tables, which are about those of their images. */
  default long bytes() {
    return 0;
  }

  /**
   * Saves everything, when nothing is decided any more, and removes the mark. After this, the next
   * start is an orderly one.
   *
   * @throws IOException if it is not saved; the next start is then one after a crash
   */
  default void saveAndUnmark() throws IOException {}

  /** Closes the storage without saving. A save that still runs keeps it in use until it ends. */
  @Override
  default void close() {}
}
