package dev.weir.siege.faults;

import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Something that happens to a cluster. Its text names it in tables. */
public interface ClusterFault {
  /**
   * Has it happen; what it has broken goes on again, or starts again, when this returns.
   *
   * @param electionMillis how long members wait for a silent leader, at least
   */
  void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException;

  /** Returns a fault with a name. */
  static ClusterFault named(String name, ClusterFault fault) {
    return new ClusterFault() {
      @Override
      public void strike(Members members, SplittableRandom random, long electionMillis)
          throws IOException, InterruptedException {
        fault.strike(members, random, electionMillis);
      }

      @Override
      public String toString() {
        return name;
      }
    };
  }

  /** Waits for so many milliseconds, from the least up to the most. */
  static void wait(SplittableRandom random, long least, long most) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextLong(least, most + 1));
  }
}
