package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A fault in which the wall clock of the leader, or of any member, is set forward, back again,
 * backward, and back again.
 *
 * @param clocks the members' clocks
 */
public record ClockFault(List<ShiftedClock> clocks) implements ClusterFault {
  private static final Duration STEP = Duration.ofHours(1);

  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    MemberProcess victim = random.nextBoolean() ? members.leader() : members.any();
    ShiftedClock clock = clocks.get(members.all().indexOf(victim));
    for (Duration each : List.of(STEP, Duration.ZERO, STEP.negated(), Duration.ZERO)) {
      clock.shift(each);
      ClusterFault.wait(random, 300, 1_500);
    }
  }

  @Override
  public String toString() {
    return "a wall clock is stepped by an hour, and back";
  }
}
