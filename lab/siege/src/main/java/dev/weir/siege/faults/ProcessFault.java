package dev.weir.siege.faults;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/** The faults of members' processes. */
public enum ProcessFault implements ClusterFault {
  KILL_LEADER("kill -9 of the leader") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      killed(List.of(members.leader()), random, electionMillis);
    }
  },
  KILL_FOLLOWER("kill -9 of a follower") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      killed(List.of(members.follower()), random, electionMillis);
    }
  },
  KILL_TWO("kill -9 of two") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      killed(members.some(2), random, electionMillis);
    }
  },
  KILL_ALL("kill -9 of all") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      killed(members.some(members.all().size()), random, electionMillis);
    }
  },
  STOP_LEADER("SIGSTOP of the leader, 0.5 to 10 election timeouts") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess leader = members.leader();
      leader.stop();
      // The leader comes back within an election as often as long after it.
      long most = electionMillis * (random.nextBoolean() ? 3 : 10);
      ClusterFault.wait(random, electionMillis / 2, most);
      leader.goOn();
    }
  },
  STOP_FOLLOWER("SIGSTOP of a follower") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      MemberProcess follower = members.follower();
      follower.stop();
      ClusterFault.wait(random, electionMillis / 2, 4 * electionMillis);
      follower.goOn();
    }
  },
  STOP_IN_TURN("SIGSTOP of one leader after the other") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      for (int i = 0; i < 2; i++) {
        MemberProcess leader = members.leader();
        leader.stop();
        ClusterFault.wait(random, 2 * electionMillis, 3 * electionMillis);
        // The old leader goes on while its successor is stopped.
        MemberProcess successor = members.leader();
        successor.stop();
        leader.goOn();
        ClusterFault.wait(random, electionMillis / 2, electionMillis);
        successor.goOn();
      }
    }
  },
  HEAP_DUMP("heap dumps of the leader") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      ServerProcess leader = members.leader().process();
      Path folder = Files.createTempDirectory("weir-heap");
      for (int i = 0; i < 3; i++) {
        Path dump = folder.resolve("heap-" + i + ".hprof");
        leader.command("GC.heap_dump", dump.toString());
        Files.delete(dump);
      }
      Files.delete(folder);
    }
  },
  ROLLING_RESTART("rolling restart of all") {
    @Override
    public void strike(Members members, SplittableRandom random, long electionMillis)
        throws IOException, InterruptedException {
      for (MemberProcess each : members.some(members.all().size())) {
        each.end();
        each.start();
        members.awaitHealthy();
      }
    }
  };

  private final String label;

  ProcessFault(String label) {
    this.label = label;
  }

  private static void killed(
      List<MemberProcess> victims, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    victims.forEach(MemberProcess::kill);
    ClusterFault.wait(random, 3 * electionMillis, 5 * electionMillis);
    for (MemberProcess each : victims) {
      each.start();
    }
  }

  @Override
  public String toString() {
    return label;
  }
}
