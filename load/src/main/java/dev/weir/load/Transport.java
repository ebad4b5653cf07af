package dev.weir.load;

import java.util.concurrent.CompletableFuture;

/** Opens connections to a port, and owns their threads. */
interface Transport extends AutoCloseable {
  /** Returns a loop by its number. */
  Loop loop(int index);

  /**
   * Opens a connection on a loop, and tells the lane whenever it goes up or down.
   *
   * @return done when the connection can be used for the first time
   */
  CompletableFuture<Void> open(int loop, Lane lane);

  /** Closes all connections and ends the threads. */
  @Override
  void close();
}
