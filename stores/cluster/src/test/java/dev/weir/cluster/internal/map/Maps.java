package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Maps for tests. */
public final class Maps {
  private Maps() {}

  /** Returns the first map of a cluster of those members, each with every group. */
  public static ClusterMap of(int groups, String... names) {
    List<Member> members = new ArrayList<>();
    for (String name : names) {
      members.add(member(name, "zone-" + name));
    }
    return ClusterMap.first(
        new Charter(new UUID(1, 2), members, groups, members.size(), 3, 4, true));
  }

  /** Returns a member whose incarnation follows from its name. */
  public static Member member(String name, String zone) {
    return new Member(name, "127.0.0.1", 7946, new UUID(7, name.hashCode()), zone);
  }
}
