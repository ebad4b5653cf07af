package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;

/** The faults in which two of five members fail, one of which leads; the other three go on. */
public enum MinorityFault implements ClusterFault {
  KILLED("kill -9 of two of five, one of them leads") {
    @Override
    void begin(MemberProcess member) {
      member.kill();
    }

    @Override
    void end(MemberProcess member) throws IOException {
      member.start();
    }
  },
  STOPPED("SIGSTOP of two of five, one of them leads") {
    @Override
    void begin(MemberProcess member) throws IOException {
      member.stop();
    }

    @Override
    void end(MemberProcess member) throws IOException {
      member.goOn();
    }
  };

  private final String label;

  MinorityFault(String label) {
    this.label = label;
  }

  abstract void begin(MemberProcess member) throws IOException;

  abstract void end(MemberProcess member) throws IOException;

  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    MemberProcess leader = members.leader();
    List<MemberProcess> minority = List.of(leader, members.anyBut(leader));
    for (MemberProcess each : minority) {
      begin(each);
    }
    members.awaitAdmission(
        members.all().stream().filter(each -> !minority.contains(each)).toList());
    ClusterFault.wait(random, electionMillis / 2, 4 * electionMillis);
    for (MemberProcess each : minority) {
      end(each);
    }
  }

  @Override
  public String toString() {
    return label;
  }
}
