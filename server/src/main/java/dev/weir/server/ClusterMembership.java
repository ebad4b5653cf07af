package dev.weir.server;

import dev.weir.server.internal.http.ClusterPages;
import dev.weir.server.internal.metrics.Families;
import dev.weir.shared.SharedStore;

/** A server as the member of a cluster. Safe for use by many threads. */
public interface ClusterMembership extends ClusterPages {
  /** Returns the store that decides in the cluster. Closing it ends the membership. */
  SharedStore store();

  /** Waits until this member has applied the cluster's earlier decisions, or for a limited time. */
  void awaitCaughtUp() throws InterruptedException;

  /** Adds the metrics of this member. */
  void addMetrics(Families to);
}
