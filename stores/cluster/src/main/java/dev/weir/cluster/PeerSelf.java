package dev.weir.cluster;

import java.util.UUID;
import java.util.function.Supplier;

/**
 * What a member says of itself when it opens or accepts a connection.
 *
 * @param boot chosen anew at each start of the process
 * @param cluster the cluster's id; {@link #FORMING} as long as it is not known, which goes with any
 */
record PeerSelf(String name, UUID boot, Supplier<UUID> cluster) {
  static final UUID FORMING = new UUID(0, 0);
}
