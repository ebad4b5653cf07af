package dev.weir.server.internal.http;

import java.io.IOException;
import java.util.concurrent.CompletionStage;

/** What the HTTP port says of a cluster, and has it do. Its methods may block for seconds. */
public interface ClusterPages {
  /** Returns how the cluster is, as JSON. */
  String status();

  /**
   * Changes the cluster's members, as a JSON object asks.
   *
   * @return what was done, in lines
   * @throws IOException if it cannot be done; says why
   */
  String change(byte[] body) throws IOException;

  /** Answers a question of who makes a backup; fails with a message that says why. */
  CompletionStage<byte[]> backup(byte[] question);
}
