package dev.weir.siege;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Something that happens to a cluster. Its text names it in tables. */
interface ClusterFault {
  /**
   * Has it happen; what it has broken goes on again, or starts again, when this returns.
   *
   * @param electionMillis how long members wait for a silent leader, at least
   */
  void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException;

  /** Waits for so many milliseconds, from the least up to the most. */
  static void wait(SplittableRandom random, long least, long most) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(random.nextLong(least, most + 1));
  }
}
