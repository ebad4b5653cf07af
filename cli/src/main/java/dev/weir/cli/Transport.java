package dev.weir.cli;

import java.util.concurrent.CompletableFuture;

/** Opens connections to a door, and has the threads that they live on. */
interface Transport extends AutoCloseable {
  /** Returns the loop of that number; there are as many as were asked for. */
  Loop loop(int index);

  /**
   * Opens a connection on a loop, and tells the lane whenever it is up or down.
   *
   * @return done when the connection can be used for the first time
   */
  CompletableFuture<Void> open(int loop, Lane lane);

  /** Closes all connections and ends the threads. */
  @Override
  void close();
}
