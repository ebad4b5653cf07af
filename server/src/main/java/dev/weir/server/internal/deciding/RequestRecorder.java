package dev.weir.server.internal.deciding;

import dev.weir.rules.Request;

/** A recorder of the requests of all ports. Must be safe for use by many threads. */
public interface RequestRecorder {
  /** A recorder that keeps nothing. */
  RequestRecorder NONE = (request, nowNanos) -> {};

  /** Records a request that was read at a time of the server's ticker. */
  void add(Request request, long nowNanos);
}
