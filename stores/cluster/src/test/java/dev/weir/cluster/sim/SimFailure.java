package dev.weir.cluster.sim;

import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.cluster.sim.SimHistory.Violation;
import dev.weir.testkit.Shrinker;
import dev.weir.testkit.Trials;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A run with a violation, and the way to repeat it.
 *
 * @param faults those that are needed for it, or more
 */
record SimFailure(long seed, Defect defect, List<SimFault> faults, SimRun run) {
  /** The system property that limits a run to some of the faults of its seed. */
  static final String FAULTS_PROPERTY = "weir.faults";

  /** The system property that gives a run a defect, for {@link KnownBadTest}. */
  static final String DEFECT_PROPERTY = "weir.defect";

  /** The most attempts, which take some minutes; faults that are not tried any more are kept. */
  private static final int MOST_TRIES = 400;

  /** Runs a seed; returns null if there is no violation. */
  static @Nullable SimFailure of(long seed, Defect defect) {
    return of(seed, defect, SimFault.of(seed, defect));
  }

  static @Nullable SimFailure of(long seed, Defect defect, List<SimFault> faults) {
    SimRun run = SimRun.of(seed, defect, faults);
    return run.violations().isEmpty() ? null : new SimFailure(seed, defect, faults, run);
  }

  /** Returns those faults of a seed whose numbers are in a list, or all if there is none. */
  static List<SimFault> faults(long seed, Defect defect, @Nullable String numbers) {
    List<SimFault> all = SimFault.of(seed, defect);
    if (numbers == null) {
      return all;
    }
    List<String> some = Arrays.asList(numbers.split(","));
    return all.stream().filter(each -> some.contains(String.valueOf(each.number()))).toList();
  }

  Set<Kind> kinds() {
    EnumSet<Kind> kinds = EnumSet.noneOf(Kind.class);
    run.violations().forEach(each -> kinds.add(each.kind()));
    return kinds;
  }

  /** Returns the same failure with as few faults as are needed for any of these violations. */
  SimFailure shortened(Set<Kind> telling) {
    int[] tries = {0};
    List<SimFault> few =
        Shrinker.minimal(
            faults,
            some -> {
              if (some.size() == faults.size()) {
                return true;
              }
              SimFailure same = tries[0]++ < MOST_TRIES ? of(seed, defect, some) : null;
              return same != null && same.kinds().stream().anyMatch(telling::contains);
            });
    return new SimFailure(seed, defect, few, SimRun.of(seed, defect, few));
  }

  /** Returns the numbers of the faults, to be set as {@link #FAULTS_PROPERTY}. */
  String numbers() {
    return faults.stream()
        .map(each -> String.valueOf(each.number()))
        .collect(Collectors.joining(","));
  }

  @Override
  public String toString() {
    StringBuilder words = new StringBuilder();
    words.append(String.format("seed %d, %s, %d faults%n", seed, defect, faults.size()));
    run.descriptions()
        .forEach((number, told) -> words.append(String.format("%4d  %s%n", number, told)));
    List<Violation> violations = run.violations();
    for (Violation each : violations.subList(0, Math.min(5, violations.size()))) {
      words.append(String.format("%s: %s%n", each.kind(), each.text()));
    }
    if (violations.size() > 5) {
      words.append(String.format("and %d more%n", violations.size() - 5));
    }
    words.append(
        String.format(
            "again: mvn test -pl stores/cluster -am -Dsurefire.failIfNoSpecifiedTests=false"
                + " -Dtest=ClusterSimulationTest %s%n",
            properties()));
    return words.toString();
  }

  /** Returns the properties that repeat it. */
  String properties() {
    String again =
        String.format("-D%s=%d -D%s=%s", Trials.SEED_PROPERTY, seed, FAULTS_PROPERTY, numbers());
    return again + (defect == Defect.NONE ? "" : " -D" + DEFECT_PROPERTY + "=" + defect);
  }
}
