package dev.weir.server.internal.state;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.server.settings.StartException;

/**
 * The storage that keeps the counts of a server's tables over its restarts, or that keeps nothing.
 * Used by one thread at a time, except for {@link #ticker()}.
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

  /**
   * Saves everything, when nothing is decided any more. After this, the next start is an orderly
   * one.
   */
  default void end() {}

  /** Closes the storage without saving. */
  @Override
  default void close() {}
}
