package dev.weir.cluster.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.cluster.sim.SimHistory.Violation;
import dev.weir.testkit.Trials;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Known defects, which the simulation must find; otherwise its silence means nothing. */
@Tag("model")
class KnownBadTest {
  private static final int MOST_RUNS = 400;

  /** Returns the violations that must be found for a defect; others may occur too. */
  private static Set<Kind> telling(Defect defect) {
    return switch (defect) {
      case NONE -> EnumSet.noneOf(Kind.class);
      case ANSWERS_BEFORE_COMMIT -> EnumSet.of(Kind.EXCESS, Kind.NOT_CHARGED);
      case LEADER_DECIDES_ALONE -> EnumSet.of(Kind.EXCESS, Kind.NOT_CHARGED);
      case WALL_CLOCK_STAMPS -> EnumSet.of(Kind.EXCESS, Kind.TIME_RUNS_FAST);
      case TIME_GOES_BACK -> EnumSet.of(Kind.TIME_GOES_BACK);
      case WIPED_VOTER, UNFLUSHED_ACKS -> EnumSet.of(Kind.NOT_CHARGED, Kind.LOGS_DIFFER);
      case RETRIED_CHECK -> EnumSet.of(Kind.CHARGED_TWICE);
      case IMAGE_LACKS_KEYS, BOUNDED_REPLICA -> EnumSet.of(Kind.ANSWERS_DIFFER, Kind.DIVERGED);
      case BUNDLED_ANSWERS_MIXED -> EnumSet.of(Kind.EXCESS, Kind.NOT_CHARGED);
      case BUNDLED_TWICE, BUNDLE_RETRIED -> EnumSet.of(Kind.CHARGED_TWICE);
      case ACTIVATE_BEFORE_FREEZE -> EnumSet.of(Kind.OWNERS, Kind.EXCESS);
      case MOVE_WITHOUT_SHIFT -> EnumSet.of(Kind.EXCESS);
      case WALL_CLOCK_ALLOTMENTS -> EnumSet.of(Kind.GRANTED_LATE);
      case CALENDAR_OF_ANY_CLOCK -> EnumSet.of(Kind.CALENDAR_LEAPS);
      case CALENDAR_OF_EACH_CLOCK -> EnumSet.of(Kind.ANSWERS_DIFFER, Kind.DIVERGED);
    };
  }

  @ParameterizedTest
  @EnumSource(value = Defect.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void whatIsWrong_isFound(Defect defect) {
    SplittableRandom seeds = Trials.numbers(defect.name());
    Set<Kind> missing = telling(defect);
    int runs = 0;
    for (; runs < MOST_RUNS && !missing.isEmpty(); runs++) {
      for (Violation each : SimRun.of(seeds.nextLong(), defect).violations()) {
        missing.remove(each.kind());
      }
    }
    Trials.report(defect.name(), runs);
    assertThat(missing).as("not found in %d runs", runs).isEmpty();
  }
}
