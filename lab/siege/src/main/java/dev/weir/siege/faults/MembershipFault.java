package dev.weir.siege.faults;

import dev.weir.siege.cluster.ClusterPage;
import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * The faults in which members join, lose their folders and are removed, while others fail. There
 * are three to five members; if a fault needs more or fewer, one joins or is removed before.
 */
public enum MembershipFault implements ClusterFault {
  JOIN_LEADER_KILLED("a member joins, the leader is killed -9") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess newcomer = joining(members, random);
      MemberProcess leader = members.leader();
      leader.kill();
      ClusterFault.wait(random, 3 * electionMillis, 5 * electionMillis);
      leader.start();
      newcomer.process().awaitReady();
    }
  },
  JOINING_KILLED("a member that joins is killed -9, and starts again") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess newcomer = joining(members, random);
      newcomer.kill();
      ClusterFault.wait(random, electionMillis / 2, 3 * electionMillis);
      newcomer.start();
    }
  },
  LOST_OTHER_KILLED("a folder is lost, another member is killed -9") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess other = members.anyBut(replaced(members, random));
      other.kill();
      ClusterFault.wait(random, 3 * electionMillis, 5 * electionMillis);
      other.start();
    }
  },
  LOST_LEADER_STOPPED("a folder is lost, the leader is paused") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess lost = replaced(members, random);
      MemberProcess leader = members.leader();
      MemberProcess stopped = leader.equals(lost) ? members.anyBut(lost) : leader;
      stopped.stop();
      ClusterFault.wait(random, electionMillis, 8 * electionMillis);
      stopped.goOn();
    }
  },
  TRANSFERRED("the lead of groups is handed over by command, replicas are rebalanced") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      for (int i = 0; i < 2; i++) {
        for (int group : members.page().groups()) {
          List<String> voters =
              members.page().of(group).stream()
                  .filter(each -> each.hasVoter(each.member()))
                  .map(ClusterPage.Replica::member)
                  .toList();
          String next = voters.get(random.nextInt(voters.size()));
          members.change("transfer", group + "", next);
        }
      }
      members.change("rebalance");
    }
  },
  REMOVED_RETURNS("a dead member is removed, and comes back with its old folder") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess dead = random.nextBoolean() ? members.leader() : members.any();
      dead.kill();
      members.change("remove", dead.name());
      members.removed(dead);
      dead.start();
      countsNothing(members, dead);
    }
  },
  REMOVED_UP("a member that is up is removed by --force") {
    @Override
    void act(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess up = random.nextBoolean() ? members.leader() : members.any();
      members.change("remove", up.name(), "--force");
      members.removed(up);
      countsNothing(members, up);
    }
  };

  /** The log messages of a member that joins, in their order. */
  private static final List<String> STEPS = List.of("asks to join it", "has joined", "ready: ");

  private static final int FEWEST = 3;
  private static final long MOMENT_MILLIS = 20;

  private final String label;

  MembershipFault(String label) {
    this.label = label;
  }

  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    prepare(members);
    act(members, random, electionMillis);
  }

  abstract void act(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException;

  /** Makes room for a member that joins, or adds one before one is removed. */
  private void prepare(Members members) throws IOException, InterruptedException {
    boolean joins = this == JOIN_LEADER_KILLED || this == JOINING_KILLED;
    boolean leaves = this == REMOVED_RETURNS || this == REMOVED_UP;
    if (joins && members.spare().isEmpty()) {
      MemberProcess leaving = members.any();
      leaving.kill();
      members.change("remove", leaving.name());
      members.removed(leaving);
    } else if (leaves && members.all().size() == FEWEST) {
      members.join();
    }
    members.awaitHealthy();
  }

  /** Starts a member that joins; returns at some moment of the joining. */
  private static MemberProcess joining(Members members, SplittableRandom random)
      throws IOException, InterruptedException {
    MemberProcess newcomer = members.join();
    awaitStep(newcomer, random);
    return newcomer;
  }

  /** Kills a member and starts it without its folder; returns at some moment of its return. */
  private static MemberProcess replaced(Members members, SplittableRandom random)
      throws IOException, InterruptedException {
    MemberProcess lost = random.nextBoolean() ? members.leader() : members.any();
    lost.kill();
    lost.loseFolder();
    lost.start();
    awaitStep(lost, random);
    return lost;
  }

  private static void awaitStep(MemberProcess member, SplittableRandom random)
      throws IOException, InterruptedException {
    await(member, STEPS.get(random.nextInt(STEPS.size())));
    // Its groups add it as a voter, one step a second.
    ClusterFault.wait(random, 0, 2_000);
  }

  private static void await(MemberProcess member, String words)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + Members.LONGEST.toNanos();
    while (!member.log().contains(words)) {
      if (System.nanoTime() - deadline >= 0 || !member.process().running()) {
        throw new IOException(member.name() + ": has not said: " + words + "\n" + member.log());
      }
      TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
    }
  }

  /** Waits until a removed process no longer counts itself as a member. */
  private static void awaitKnown(MemberProcess removed) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + Members.LONGEST.toNanos();
    ClusterPage page = removed.page();
    while (page.replicas().isEmpty() || page.names(removed.name())) {
      if (System.nanoTime() - deadline >= 0 || !removed.process().running()) {
        throw new IOException(removed.name() + ": is none, and says: " + page.text());
      }
      TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
      page = removed.page();
    }
  }

  /**
   * Waits until a removed process has learned of its removal, while its clients send requests, and
   * ends it.
   *
   * @throws IOException if it leads, or if others count it as a voter
   */
  private static void countsNothing(Members members, MemberProcess removed)
      throws IOException, InterruptedException {
    members.awaitHealthy();
    awaitKnown(removed);
    for (ClusterPage page : List.of(members.page(), removed.page())) {
      for (ClusterPage.Replica each : page.replicas()) {
        boolean counts = each.hasVoter(removed.name()) && !each.member().equals(removed.name());
        if (counts || (each.leads() && each.member().equals(removed.name()))) {
          throw new IOException(removed.name() + " was removed, and counts: " + page.text());
        }
      }
    }
    removed.kill();
  }

  @Override
  public String toString() {
    return label;
  }
}
