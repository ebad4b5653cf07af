package dev.weir.cluster.internal.peer;

import java.util.concurrent.CompletionStage;

/** A handler of one kind of request of other members. Must be safe for use by many threads. */
@FunctionalInterface
public interface PeerHandler {
  /**
   * Handles a request.
   *
   * @param from the name of the calling member; proven by its certificate if there are any
   * @param payload belongs to the handler
   * @return the reply; a failure's message goes to the caller
   */
  CompletionStage<byte[]> handle(String from, byte[] payload) throws Exception;
}
