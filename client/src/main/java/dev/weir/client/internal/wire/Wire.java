package dev.weir.client.internal.wire;

import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;

/**
 * The transport to one service: the interface between the decisions and the network. Safe for use
 * by many threads.
 */
public interface Wire extends AutoCloseable {
  /**
   * The receiver of the outcome of one message. It is called once, unless the network loses the
   * message.
   */
  interface Reply {
    void answered(LeaseResponse response);

    /**
     * Receives a failure: there will be no answer.
     *
     * @param why a description
     * @param lost true if the connection is of no use any more, so that other messages fail as well
     */
    void failed(String why, boolean lost);
  }

  /** Sends a message, once. It is never sent again: the service may have charged it. */
  void send(LeaseRequest message, Reply reply);

  /**
   * Gives up the connection for a new one with the next message; messages in flight have failed.
   */
  void reset();

  /** Closes the connection after a bounded time in which messages that were sent can leave. */
  @Override
  void close();
}
