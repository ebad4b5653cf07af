package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** The partitions of the network between members, each of which is in its own namespace. */
public enum NetworkFault {
  LEADER_ALONE("the leader is cut off from the others") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      bothWays(spaces, order.subList(0, 1), order.subList(1, order.size()));
    }
  },
  FOLLOWER_ALONE("a follower is cut off from the others") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      int last = order.size() - 1;
      bothWays(spaces, order.subList(0, last), order.subList(last, order.size()));
    }
  },
  LEADER_UNHEARD("what the leader sends is lost, what it is sent arrives") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      for (int each : order.subList(1, order.size())) {
        spaces.cut(order.get(0), each);
      }
    }
  },
  LEADER_DEAF("what the leader is sent is lost, what it sends arrives") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      for (int each : order.subList(1, order.size())) {
        spaces.cut(each, order.get(0));
      }
    }
  },
  /** The partition of five members. */
  MINORITY_APART("the leader and another are cut off: they admit nothing, the other three go on") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      bothWays(spaces, order.subList(0, 2), order.subList(2, order.size()));
    }

    @Override
    void proceed(Members members, List<Integer> order, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      List<MemberProcess> all = order.stream().map(members.all()::get).toList();
      List<MemberProcess> minority = all.subList(0, 2);
      members.awaitAdmission(all.subList(2, all.size()));
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(4 * electionMillis);
      do {
        for (MemberProcess each : minority) {
          if (members.admits(each)) {
            throw new IOException(each.name() + " is in a minority, and has admitted a request");
          }
        }
      } while (System.nanoTime() - end < 0);
    }
  },
  ALL_APART("each member is cut off from all others") {
    @Override
    void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException {
      for (int i = 0; i < order.size(); i++) {
        bothWays(spaces, order.subList(i, i + 1), order.subList(i + 1, order.size()));
      }
    }
  };

  private final String label;

  NetworkFault(String label) {
    this.label = label;
  }

  /**
   * @param order the members' indices, the leader's first
   */
  abstract void cut(NetworkNamespaces spaces, List<Integer> order) throws IOException;

  /** Waits while the members are cut off. */
  void proceed(Members members, List<Integer> order, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    ClusterFault.wait(random, 3 * electionMillis, 8 * electionMillis);
  }

  private static void bothWays(NetworkNamespaces spaces, List<Integer> some, List<Integer> others)
      throws IOException {
    for (int each : some) {
      for (int other : others) {
        spaces.cut(each, other);
        spaces.cut(other, each);
      }
    }
  }

  /** Returns this fault for members in a network of namespaces. */
  public ClusterFault of(NetworkNamespaces spaces) {
    return ClusterFault.named(
        label,
        (members, random, electionMillis) -> {
          int leader = members.all().indexOf(members.leader());
          List<Integer> order = new ArrayList<>(List.of(leader));
          for (int i = 0; i < members.all().size(); i++) {
            if (i != leader) {
              order.add(random.nextInt(1, order.size() + 1), i);
            }
          }
          try {
            cut(spaces, order);
            proceed(members, order, random, electionMillis);
          } finally {
            spaces.heal();
          }
        });
  }
}
