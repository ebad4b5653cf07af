package dev.weir.http.outgoing;

import dev.weir.identity.RequestView;
import org.jspecify.annotations.Nullable;

/**
 * A request that is to be sent, without the types of an HTTP client. It is read like a received
 * one, except for the values that are unknown before there is a connection.
 */
public interface OutgoingRequest extends RequestView {
  /** Returns null: there is no connection yet. */
  @Override
  default @Nullable String peer() {
    return null;
  }

  /** Returns the host without a port, in lower case; an IPv6 address without brackets. */
  @Override
  String host();

  /** Returns the port, even if it is the scheme's own. */
  int port();
}
