package dev.weir.server.internal.http;

import java.io.IOException;
import java.util.concurrent.CompletionStage;

/**
 * The paths of the HTTP port for the state and the changes of a cluster. Its methods may block for
 * seconds.
 */
public interface ClusterPages {
  /** Returns the state of the cluster, as JSON. */
  String status();

  /**
   * Changes the cluster's members, by a JSON object.
   *
   * @return the changes that were made, in lines
   * @throws IOException if it cannot be done; the message states the reason
   */
  String change(byte[] body) throws IOException;

  /** Answers a request of a backup; fails with a message that states the reason. */
  CompletionStage<byte[]> backup(byte[] question);
}
