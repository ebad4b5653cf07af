package dev.weir.siege.faults;

import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A fault of a cluster. Its text is its name in tables. */
public interface ClusterFault {
  /**
   * Makes the fault happen. The parts that it has broken go on again, or start again, when this
   * returns.
   *
   * @param electionMillis the least time that members wait for a silent leader
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

  /** Waits for a random number of milliseconds, from the least up to the most. */
  static void wait(SplittableRandom random, long least, long most) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextLong(least, most + 1));
  }
}
