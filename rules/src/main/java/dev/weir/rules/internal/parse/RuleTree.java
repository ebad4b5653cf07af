package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import dev.weir.rules.Room;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tree of the rules of all files. Used by one thread. */
public final class RuleTree {
  /*
   * How much may a rule set hold, and why? A set that does not fit into the heap must be refused
   * while it is read: once half of its limits are in force, it is too late. Measured on sets of
   * 72,000 rules, a descriptor takes some 650 bytes when it is read, and its limit 2,750 more in
   * the engine and the store before its first request; a reload holds two sets for a moment. So
   * each counts for a little more than that, and a set may take a third of the heap: the states of
   * keys have half of it by default.
   */

  /** The most rules of one rule set, however large the heap is: some 700 MB. */
  public static final int MAX_RULES = 200_000;

  /** The memory of a descriptor besides its path. */
  static final int DESCRIPTOR_BYTES = 1_024;

  /** The memory of a limit on top of that. */
  static final int LIMIT_BYTES = 3_072;

  /**
   * The copies of a path: in the rule, in the name of its limit and, level by level, as patterns.
   */
  private static final int PATH_COPIES = 4;

  /** The number of earlier patterns with which a pattern is compared. */
  private static final int MAX_COMPARED = 100;

  private final Problems problems;
  private final Room room;
  private final Map<String, List<Rule>> domains = new LinkedHashMap<>();
  private final Map<String, Map<String, Sibling>> firstLevels = new HashMap<>();
  private final List<ReplacedRule> replaced = new ArrayList<>();
  private final Plans plans;
  private int rules;

  /**
   * Creates an empty tree.
   *
   * @param heapBytes the heap, of which a share is for the rules
   */
  public RuleTree(Problems problems, long heapBytes) {
    this.problems = problems;
    room = new Room(problems, heapBytes);
    plans = new Plans(problems, room);
  }

  /** Returns the plans of all files so far. */
  Plans plans() {
    return plans;
  }

  /** The properties of a descriptor that its siblings need. */
  record Sibling(String key, String value, Position position) {}

  private record ReplacedRule(String domain, String name, Position position) {}

  /** Returns the descriptors on the first level of a domain, by key_value, in all files so far. */
  Map<String, Sibling> siblings(String domain) {
    return firstLevels.computeIfAbsent(domain, name -> new HashMap<>());
  }

  /** Counts one rule; returns false if there is no room for it, which is reported once. */
  boolean count(Position position) {
    rules++;
    if (rules > MAX_RULES) {
      room.refuse(position, "descriptors: more (expected: at most " + MAX_RULES + " in all)");
    }
    return !room.full();
  }

  /** Counts the memory that a rule will take. */
  void weigh(RuleDraft rule) {
    long bytes = DESCRIPTOR_BYTES + (long) PATH_COPIES * rule.path.length();
    room.take(
        rule.policy == null ? bytes : bytes + LIMIT_BYTES, rule.position, "descriptors", rules);
  }

  /** Records that a rule replaces those of that name. */
  void replaced(String domain, String name, Position position) {
    replaced.add(new ReplacedRule(domain, name, position));
  }

  /** Adds rules to the first level of a domain. */
  void add(String domain, List<Rule> rules) {
    domains.computeIfAbsent(domain, name -> new ArrayList<>()).addAll(rules);
  }

  /** Returns the rule set, after the checks that need all of it. */
  public RuleSet build(String digest, RuleDefaults defaults) {
    Map<String, Level> levels = new LinkedHashMap<>();
    domains.forEach((domain, rules) -> levels.put(domain, Level.of(rules)));
    RuleSet set = new RuleSet(levels, plans, digest, defaults);
    checkPaths(set);
    if (problems.errors() == 0) {
      lintReplaced(set);
      levels.values().forEach(this::lintShadowed);
    }
    return set;
  }

  /**
   * Checks that paths are unique: keys and domains may hold dots, so two places in the tree may
   * read the same.
   */
  private void checkPaths(RuleSet set) {
    Map<String, Rule> byPath = new HashMap<>();
    for (Rule rule : set.rules()) {
      Rule first = byPath.putIfAbsent(rule.path(), rule);
      // Equal siblings have been reported already.
      boolean siblings =
          first != null && first.domain().equals(rule.domain()) && first.levels() == rule.levels();
      if (first != null && !siblings) {
        problems.error(
            rule.position(),
            "descriptor path %s: reads like the one at %s (expected: unique)"
                .formatted(Words.quoted(rule.path()), first.position()));
      }
    }
  }

  private void lintReplaced(RuleSet set) {
    Set<List<String>> names = new HashSet<>();
    set.rules().forEach(rule -> names.add(List.of(rule.domain(), rule.name())));
    for (ReplacedRule entry : replaced) {
      if (!names.contains(List.of(entry.domain(), entry.name()))) {
        problems.warning(
            entry.position(),
            "name: %s (expected: the name of a rule in domain %s; there is none, so nothing is replaced)"
                .formatted(Words.shown(entry.name()), Words.shown(entry.domain())));
      }
    }
  }

  private void lintShadowed(Level level) {
    for (String key : level.keys()) {
      List<Rule> patterns = new ArrayList<>();
      for (Rule rule : level.withKey(key)) {
        if (Wildcard.isPattern(rule.value())) {
          lintShadowed(rule, patterns);
          patterns.add(rule);
        }
      }
      level.withKey(key).stream()
          .filter(rule -> rule.value().isEmpty())
          .forEach(rule -> lintShadowed(rule, patterns));
    }
    level.rules().forEach(rule -> lintShadowed(rule.children()));
  }

  private void lintShadowed(Rule rule, List<Rule> before) {
    String everything = rule.value().isEmpty() ? "*" : rule.value();
    // Comparing all with all would be quadratic; so many patterns are not expected.
    for (Rule earlier : before.subList(0, Math.min(before.size(), MAX_COMPARED))) {
      if (Wildcard.covers(earlier.value(), everything)) {
        problems.warning(
            rule.position(),
            "descriptor %s: never reached (expected: before %s at %s, which takes all its values)"
                .formatted(
                    Words.quoted(RuleDraft.compositeKey(rule.key(), rule.value())),
                    Words.quoted(RuleDraft.compositeKey(earlier.key(), earlier.value())),
                    earlier.position()));
        return;
      }
    }
  }
}
