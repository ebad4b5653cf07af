package dev.weir.server.internal.rules;

import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.server.internal.log.LogEvent;
import dev.weir.server.internal.log.Logs;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.logging.Level;
import java.util.stream.Collectors;

/**
 * The changes of a reload, in numbers and in words.
 *
 * @param rules the number of rules now
 * @param added rules that were not there before
 * @param removed rules that are not there any more
 * @param changed rules that were there and are different now
 * @param differences each difference, in words
 */
record RuleSetChange(int rules, int added, int removed, int changed, List<String> differences) {
  /** The most differences in the line itself; further ones are logged only at level debug. */
  private static final int FEW = 3;

  /** The most differences in a field of the line in JSON. */
  private static final int MOST = 50;

  RuleSetChange {
    differences = List.copyOf(differences);
  }

  static RuleSetChange of(RuleSet before, RuleSet after) {
    List<String> differences = before.diff(after);
    Set<String> old = paths(before);
    Set<String> now = paths(after);
    Set<String> both = new HashSet<>(old);
    both.retainAll(now);
    Set<String> changed =
        differences.stream()
            .map(line -> line.substring(0, Math.max(0, line.indexOf(": "))))
            .filter(both::contains)
            .collect(Collectors.toSet());
    return new RuleSetChange(
        after.rules().size(),
        now.size() - both.size(),
        old.size() - both.size(),
        changed.size(),
        differences);
  }

  private static Set<String> paths(RuleSet rules) {
    return rules.rules().stream().map(Rule::path).collect(Collectors.toSet());
  }

  /** Writes one line, and at level debug another one with every difference. */
  void log(long revision) {
    LogEvent.of(
            Level.INFO, "rules_reloaded", "rules: revision " + revision + " in force: " + text())
        .with("revision", revision)
        .with("rules", rules)
        .with("added", added)
        .with("removed", removed)
        .with("changed", changed)
        .with("differences", differences.subList(0, Math.min(MOST, differences.size())))
        .log();
    if (differences.size() > FEW && Logs.LOG.isLoggable(Level.FINE)) {
      Logs.LOG.fine("rules: revision " + revision + ":\n" + String.join("\n", differences));
    }
  }

  private String text() {
    if (differences.isEmpty()) {
      return "no rule has changed";
    }
    return "%d added, %d removed, %d changed, %d in all%s"
        .formatted(
            added,
            removed,
            changed,
            rules,
            differences.size() > FEW ? "" : " (" + String.join("; ", differences) + ")");
  }
}
