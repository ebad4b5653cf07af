package dev.weir.cluster.internal.peer;

import java.util.UUID;
import java.util.function.Supplier;

/**
 * The identity that a member, or a client of members, gives when it opens or accepts a connection.
 *
 * @param incarnation drawn with the folder
 * @param boot chosen anew at each start of the process
 * @param cluster the cluster's id; {@link #FORMING} as long as it is not known, which is compatible
 *     with any
 * @param member false for a process that only sends requests: it takes no part in any log
 * @param level the levels that it understands, and the one known to be in force
 */
public record PeerSelf(
    String name,
    UUID incarnation,
    UUID boot,
    Supplier<UUID> cluster,
    boolean member,
    ClusterLevel level) {
  public static final UUID FORMING = new UUID(0, 0);

  /** Returns the levels that it reports: none below the one in force. */
  Levels levels() {
    return level.advertised();
  }

  /** Describes a member of this version. */
  public PeerSelf(String name, UUID incarnation, UUID boot, Supplier<UUID> cluster) {
    this(name, incarnation, boot, cluster, true, new ClusterLevel(Levels.HERE));
  }
}
