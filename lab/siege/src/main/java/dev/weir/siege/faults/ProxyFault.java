package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** The faults of the connections to one member, each of which goes through a proxy. */
public enum ProxyFault {
  DELAY("20 to 300 ms more, each way") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) {
      proxy.delay(Duration.ofMillis(random.nextLong(20, 300)));
    }
  },
  STALL("nothing arrives, then all of it") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) {
      proxy.stall();
    }
  },
  LOST_REPLIES("requests arrive, answers are lost") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) {
      proxy.dropReplies();
    }
  },
  FORGOTTEN("open connections deliver nothing more") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) {
      proxy.forget();
    }
  },
  RESET("connections are reset, again and again") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) throws InterruptedException {
      for (int i = 0; i < 10; i++) {
        proxy.reset();
        ClusterFault.wait(random, 10, 200);
      }
    }
  },
  HALF_CLOSED("one direction of connections ends") {
    @Override
    void begin(FaultProxy proxy, SplittableRandom random) {
      proxy.endRequests();
    }
  };

  private final String label;

  ProxyFault(String label) {
    this.label = label;
  }

  abstract void begin(FaultProxy proxy, SplittableRandom random) throws InterruptedException;

  /** Returns this fault for the connections to the leader, or to any member. */
  public ClusterFault of(List<FaultProxy> proxies) {
    return ClusterFault.named(
        label,
        (members, random, electionMillis) -> {
          MemberProcess victim = random.nextBoolean() ? members.leader() : members.any();
          FaultProxy proxy = proxies.get(members.all().indexOf(victim));
          begin(proxy, random);
          ClusterFault.wait(random, 2 * electionMillis, 5 * electionMillis);
          proxy.heal();
        });
  }
}
