package dev.weir.cluster;

import dev.weir.Fingerprint;
import dev.weir.shared.Housekeeping;
import dev.weir.shared.Link;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;

/**
 * A store in a cluster of Weir's own servers, made by {@code Cluster}. Safe for use by many
 * threads.
 *
 * <p>Under {@link dev.weir.Consistency#STRICT} a decision is committed to the disks of a majority
 * of the members before it is answered: no pause, crash, partition or clock can make a window hold
 * more than the quota.
 */
public final class ClusterStore extends SharedStore {
  private final Fingerprint fingerprint;

  ClusterStore(StoreSettings settings, Link link, Fingerprint fingerprint) {
    super(settings, link);
    this.fingerprint = fingerprint;
  }

  public ClusterStore(
      StoreSettings settings, Link link, Fingerprint fingerprint, Housekeeping housekeeping) {
    super(settings, link, housekeeping);
    this.fingerprint = fingerprint;
  }

  /** Returns the fingerprints under the cluster's secret, the same in every process that has it. */
  @Override
  public Fingerprint fingerprint() {
    return fingerprint;
  }
}
