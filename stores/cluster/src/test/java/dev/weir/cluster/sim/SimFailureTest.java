package dev.weir.cluster.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.testkit.Trials;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The shortening of a failing run, which is only useful if the few faults that matter are separated
 * from the others.
 */
@Tag("model")
class SimFailureTest {
  private static final Set<Kind> TELLING = EnumSet.of(Kind.EXCESS, Kind.TIME_RUNS_FAST);

  /**
   * The most attempts: one of 30 failures needed three faults, the others fewer; some may need
   * more.
   */
  private static final int MOST_TRIES = 5;

  private static final int MOST_FAULTS = 3;

  private int runs;

  /** Stamps of wall clocks run fast when such a clock is set ahead, or another member leads. */
  @Test
  void failure_isShortenedToTheFaultsThatMatter_andTheyRepeatIt() {
    SplittableRandom seeds = Trials.numbers("simulated failure");
    SimFailure found = failure(seeds);
    SimFailure few = found.shortened(TELLING);
    for (int i = 1; i < MOST_TRIES && few.faults().size() > MOST_FAULTS; i++) {
      found = failure(seeds);
      few = found.shortened(TELLING);
    }
    Trials.report("simulated failure", runs);
    assertThat(few.faults()).hasSizeLessThanOrEqualTo(MOST_FAULTS);
    assertThat(found.faults()).containsAll(few.faults());
    assertThat(few.toString())
        .contains("-Dweir.seed=" + few.seed())
        .contains("-Dweir.faults=" + few.numbers())
        .contains("-Dweir.defect=WALL_CLOCK_STAMPS");

    SimFailure again =
        SimFailure.of(
            few.seed(), few.defect(), SimFailure.faults(few.seed(), few.defect(), few.numbers()));
    assertThat(tells(again)).isTrue();
    assertThat(Objects.requireNonNull(again).run().violations()).isEqualTo(few.run().violations());
  }

  private SimFailure failure(SplittableRandom seeds) {
    SimFailure found = null;
    while (found == null) {
      SimFailure next = SimFailure.of(seeds.nextLong(), Defect.WALL_CLOCK_STAMPS);
      runs++;
      found = tells(next) ? next : null;
    }
    return found;
  }

  private static boolean tells(@Nullable SimFailure failure) {
    return failure != null && failure.kinds().stream().anyMatch(TELLING::contains);
  }
}
