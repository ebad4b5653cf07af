package dev.weir.server.internal.guard;

import java.time.Duration;

/** An open port of a server. */
public interface Port {
  /** Returns the number of the port. */
  int port();

  /** Reports that the server is ready, if the protocol has a place for it. */
  default void ready() {}

  /** Reports that the server is not ready. */
  default void notReady() {}

  /** Takes no new requests; those in flight must end within the timeout. */
  void shut(Duration timeout) throws InterruptedException;

  /** Waits for the requests in flight, then closes. */
  void close(Duration timeout) throws InterruptedException;
}
