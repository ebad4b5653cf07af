package dev.weir.admin.internal.rules;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Rule files, current, earlier or proposed, with the rules that they contain. Immutable.
 *
 * @param revision of the store; 0 before the first, and where files are the source
 */
public record RuleVersion(long revision, SortedMap<String, String> texts, Rules.LoadResult loaded) {
  static RuleVersion of(long revision, Map<String, String> texts, RuleDefaults defaults) {
    Rules.LoadResult loaded =
        texts.isEmpty()
            ? new Rules.LoadResult(RuleSet.EMPTY, List.of())
            : Rules.parse(texts, defaults);
    return new RuleVersion(
        revision, Collections.unmodifiableSortedMap(new TreeMap<>(texts)), loaded);
  }

  boolean valid() {
    return loaded.ruleSet() != null;
  }

  /** Returns the rules; none if the files cannot be read. */
  public RuleSet rules() {
    RuleSet rules = loaded.ruleSet();
    return rules == null ? RuleSet.EMPTY : rules;
  }

  /** Returns the problems of the files in the form of an answer. */
  List<Map<String, Object>> problems() {
    return loaded.problems().stream().map(RuleVersion::members).toList();
  }

  private static Map<String, Object> members(Problem problem) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("file", problem.position().file());
    members.put("line", problem.position().line());
    members.put("column", problem.position().column());
    members.put("message", problem.message());
    members.put("severity", problem.severity() == Severity.ERROR ? "error" : "warning");
    return members;
  }

  /** Returns the changes from these rules to others, in words; none if either is broken. */
  List<String> diff(RuleVersion newer) {
    return valid() && newer.valid() ? rules().diff(newer.rules()) : List.of();
  }
}
