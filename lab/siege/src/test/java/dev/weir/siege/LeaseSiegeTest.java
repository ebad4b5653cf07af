package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of leases over real processes; with {@code -Dweir.siege.seconds=60} it takes a minute. */
@Tag("siege")
class LeaseSiegeTest {
  @TempDir private Path folder;

  @Test
  void limit_overFourClientsThatAreStoppedAndCutOff_holds() throws Exception {
    long seconds = Long.getLong("weir.siege.seconds", 6);
    long seed = Trials.random("lease siege").nextLong();
    LeaseSiege.Outcome outcome = new LeaseSiege(folder, seconds, seed).run();
    System.out.println(outcome);
    assertThat(outcome.excess()).as("permits beyond the limit: %s", outcome).isZero();
    // How many permits get through depends on speed: lab/bench/run --client measures that.
    assertThat(outcome.admitted()).as("%s", outcome).isPositive();
    assertThat(outcome.local()).as("%s", outcome).isPositive();
    assertThat(outcome.dropped()).as("%s", outcome).isPositive();
    assertThat(outcome.stopped()).as("%s", outcome).isPositive();
  }
}
