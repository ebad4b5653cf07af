package dev.weir.siege.faults;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A fault in which members of an older version are replaced by a newer one, one after the other.
 * The older version is the newer one, restricted to the first level, at which it writes the same as
 * that version.
 */
public final class UpgradeFault implements ClusterFault {
  /** The level that the older version understands. */
  public static final int OLDER = 1;

  private static final int NEWER = 2;
  private static final Duration REFUSED = Duration.ofSeconds(60);

  /**
   * Replaces the members; the second time, only the start of an older version is left, which is
   * refused.
   */
  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    if (members.page().level() == OLDER) {
      List<MemberProcess> order = members.some(members.all().size());
      members.upgrade(order.get(0), NEWER);
      members.upgrade(order.get(0), OLDER);
      for (MemberProcess each : order) {
        members.upgrade(each, NEWER);
        MemberProcess leader = members.leader();
        leader.kill();
        ClusterFault.wait(random, 0, 3 * electionMillis);
        leader.start();
        members.awaitHealthy();
      }
    }
    members.awaitLevel(NEWER);
    refused(members.any());
  }

  private static void refused(MemberProcess member) throws IOException {
    member.kill();
    member.understands(OLDER);
    member.start();
    ServerProcess process = member.process();
    boolean ended = process.endsWithin(REFUSED);
    if (!ended || process.exitStatus() == 0 || !process.log().contains("too old")) {
      throw new IOException(member.name() + ": not refused as too old\n" + process.log());
    }
    member.kill();
    member.understands(NEWER);
    member.start();
  }

  @Override
  public String toString() {
    return "rolling upgrade and a way back, leaders are killed -9; then an older version starts";
  }
}
