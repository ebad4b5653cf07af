package dev.weir.server.internal.guard;

import java.io.IOException;
import java.time.Duration;

/** An open port of a server. */
public interface Port {
  /** Returns the number of the port. */
  int port();

  /** Reports that the server is ready, if the protocol has a place for it. */
  default void ready() {}

  /** Reports that the server is not ready. */
  default void notReady() {}

  /**
   * Takes no new connections and no new requests; those in flight go on. Returns without waiting
   * for them.
   *
   * @param timeout the time that they have
   */
  void shut(Duration timeout) throws InterruptedException;

  /**
   * Closes the port: waits for the requests in flight, cuts off those that are left, and ends the
   * threads of its own. Called after {@link #shut}.
   *
   * @param timeout the longest wait for the requests in flight; the rest takes at most three
   *     seconds more
   * @throws IOException if a thread of its own may still decide
   */
  void close(Duration timeout) throws IOException, InterruptedException;
}
