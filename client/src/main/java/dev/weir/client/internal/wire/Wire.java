package dev.weir.client.internal.wire;

import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;

/**
 * The way to one service: the seam between what decides and the network. Safe for use by many
 * threads.
 */
public interface Wire extends AutoCloseable {
  /** Hears of one message, once, unless the network swallows it. */
  interface Reply {
    void answered(LeaseResponse response);

    /**
     * There will be no answer.
     *
     * @param why in words
     * @param lost whether the connection is of no use any more, so that others fail as well
     */
    void failed(String why, boolean lost);
  }

  /** Sends a message, once. It is never sent again: the service may have charged it. */
  void send(LeaseRequest message, Reply reply);

  /** Gives up the connection, for a new one with the next message; what is out has failed. */
  void reset();

  /** Lets what was sent go out, for a bounded time, and closes. */
  @Override
  void close();
}
