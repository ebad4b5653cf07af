package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.List;

/**
 * The faults in which the DNS has wrong addresses for the members, while some of them start again.
 */
public enum NameFault {
  NO_ADDRESS("the name of the members has no address, the leader is killed -9") {
    @Override
    List<String> published(List<String> addresses) {
      return List.of();
    }

    @Override
    List<MemberProcess> killed(Members members) throws IOException, InterruptedException {
      return List.of(members.leader());
    }
  },
  WRONG_ADDRESSES("the name has one member's address and one of nobody, two are killed -9") {
    @Override
    List<String> published(List<String> addresses) {
      return List.of(addresses.get(0), NOBODY);
    }

    @Override
    List<MemberProcess> killed(Members members) {
      return members.some(2);
    }
  };

  private static final String NOBODY = "127.0.0.99";

  private final String label;

  NameFault(String label) {
    this.label = label;
  }

  /** Returns the addresses that the DNS has instead of the right ones. */
  abstract List<String> published(List<String> addresses);

  /** Returns the members that start again meanwhile. */
  abstract List<MemberProcess> killed(Members members) throws IOException, InterruptedException;

  /** Returns this fault for members that find each other by a file. */
  public ClusterFault of(HostsFile hosts, List<String> addresses) {
    return ClusterFault.named(
        label,
        (members, random, electionMillis) -> {
          hosts.publish(published(addresses));
          List<MemberProcess> victims = killed(members);
          victims.forEach(MemberProcess::kill);
          ClusterFault.wait(random, 3 * electionMillis, 5 * electionMillis);
          for (MemberProcess each : victims) {
            each.start();
          }
          // They have the addresses of the others in their folders.
          for (MemberProcess each : victims) {
            each.process().awaitReady();
          }
          hosts.publish(addresses);
        });
  }
}
