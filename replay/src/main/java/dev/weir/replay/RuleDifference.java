package dev.weir.replay;

import dev.weir.replay.DryRunResult.Counts;
import dev.weir.replay.DryRunResult.RuleChange;
import dev.weir.replay.ReplaySummary.PolicyCount;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The difference between the two sides of a {@link DryRun}, rule by rule. */
final class RuleDifference {
  private RuleDifference() {}

  /** Returns the counts of one side. */
  static Counts totals(ReplaySummary summary) {
    ReplaySummary.Counts counts = summary.counts();
    return new Counts(
        counts.requests(),
        counts.allowed(),
        counts.denied(),
        counts.shadowDenied(),
        counts.deniedForTrouble());
  }

  /**
   * Returns the counts of each rule on both sides, those with the largest difference first.
   *
   * @param whole true for the path of a rule all of whose requests were replayed
   */
  static List<RuleChange> of(
      List<PolicyCount> one, List<PolicyCount> two, Predicate<String> whole) {
    Map<String, RuleChange> rules = new LinkedHashMap<>();
    for (PolicyCount each : two) {
      rules.put(
          each.path(),
          new RuleChange(each.policy(), each.path(), null, counts(each), whole.test(each.path())));
    }
    for (PolicyCount each : one) {
      RuleChange other = rules.get(each.path());
      Counts now = other == null ? null : other.after();
      String name = other == null ? each.policy() : other.rule();
      rules.put(
          each.path(),
          new RuleChange(name, each.path(), counts(each), now, whole.test(each.path())));
    }
    List<RuleChange> all = new ArrayList<>(rules.values());
    all.sort(Comparator.comparingLong((RuleChange each) -> -Math.abs(difference(each))));
    return all;
  }

  private static long difference(RuleChange rule) {
    return refused(rule.after()) - refused(rule.before());
  }

  private static long refused(@Nullable Counts counts) {
    return counts == null ? 0 : counts.refused() + counts.shadow();
  }

  private static Counts counts(PolicyCount of) {
    return new Counts(
        of.requests(), of.requests() - of.denied(), of.denied(), of.shadowDenied(), 0);
  }
}
