package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.server.internal.http.Endpoints;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.metrics.Families;

/**
 * The store of the cluster of which this server is a member. Closing it ends the membership: the
 * store's link to the cluster then hands over the groups that this member leads, and closes.
 */
final class MemberStore extends SharedStoreConnection {
  private final ClusterMembership membership;

  /**
   * @param where the names of the members, for messages
   */
  MemberStore(ClusterMembership membership, String where, FewLines log, Warnings warnings) {
    super(
        membership.store(),
        StoreProbe.of(membership.store()),
        where,
        "the cluster's",
        log,
        warnings);
    this.membership = membership;
  }

  @Override
  void await(boolean warm) throws InterruptedException {
    membership.awaitCaughtUp();
    super.await(warm);
    if (warm) {
      Logs.LOG.info(ClusterWarmUp.run(membership.store(), Ticker.system()));
    }
  }

  @Override
  public void addPages(Endpoints to) {
    to.withCluster(membership);
  }

  @Override
  public void addMetrics(Families to) {
    super.addMetrics(to);
    membership.addMetrics(to);
  }
}
