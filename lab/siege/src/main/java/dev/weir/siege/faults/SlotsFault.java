package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.testkit.FaultProxy;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The faults in which slots of keys move to a new group while the leaders fail that move them, give
 * them up or take them.
 */
public enum SlotsFault {
  KILLED("slots move to a new group, leaders are killed -9") {
    @Override
    void fail(MemberProcess leader, FaultProxy proxy, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      leader.kill();
      ClusterFault.wait(random, electionMillis, 4 * electionMillis);
      leader.start();
      leader.process().awaitReady();
    }
  },
  STOPPED("slots move to a new group, leaders are paused") {
    @Override
    void fail(MemberProcess leader, FaultProxy proxy, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      leader.stop();
      ClusterFault.wait(random, electionMillis / 2, 5 * electionMillis);
      leader.goOn();
    }
  },
  UNHEARD("slots move to a new group, answers of leaders are lost") {
    @Override
    void fail(MemberProcess leader, FaultProxy proxy, SplittableRandom random, long electionMillis)
        throws InterruptedException {
      proxy.dropReplies();
      ClusterFault.wait(random, electionMillis, 5 * electionMillis);
      proxy.heal();
    }
  };

  private final String label;

  SlotsFault(String label) {
    this.label = label;
  }

  /**
   * Makes the leader of a group fail, and go on.
   *
   * @param proxy the proxy through which the others reach it
   */
  abstract void fail(
      MemberProcess leader, FaultProxy proxy, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException;

  /** Returns this fault for members, each of which the others reach through a proxy. */
  public ClusterFault of(List<FaultProxy> proxies) {
    // The leader of group 0 moves slots; it gives up some of its slots, the other groups too, and
    // the last group takes them.
    return ClusterFault.named(
        label,
        (members, random, electionMillis) -> {
          int groups = members.page().groups().size();
          members.change("groups", groups + 1 + "");
          int moving = 0;
          for (int group : new int[] {0, groups, random.nextInt(groups)}) {
            ClusterFault.wait(random, 0, 2 * electionMillis);
            moving += members.page().settled() ? 0 : 1;
            MemberProcess leader = members.leader(group);
            FaultProxy proxy = proxies.get(members.all().indexOf(leader));
            fail(leader, proxy, random, electionMillis);
          }
          System.out.println(label + ": while slots moved, " + moving + " of 3");
          members.awaitSettled();
          members.change("slots");
        });
  }
}
