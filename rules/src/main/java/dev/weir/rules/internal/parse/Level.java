package dev.weir.rules.internal.parse;

import dev.weir.identity.AddressRanges;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The siblings of one level of the rule tree, in file order. Immutable. */
public final class Level {
  static final Level NONE = new Level(List.of());

  private final List<Rule> rules;
  private final Map<String, Siblings> byKey;

  private Level(List<Rule> rules) {
    this.rules = List.copyOf(rules);
    Map<String, List<Rule>> grouped = new LinkedHashMap<>();
    for (Rule rule : rules) {
      grouped.computeIfAbsent(rule.key(), key -> new ArrayList<>()).add(rule);
    }
    byKey = new LinkedHashMap<>();
    grouped.forEach((key, siblings) -> byKey.put(key, new Siblings(siblings)));
  }

  static Level of(List<Rule> rules) {
    return rules.isEmpty() ? NONE : new Level(rules);
  }

  /** Returns all rules of the level, in file order. */
  public List<Rule> rules() {
    return rules;
  }

  /** Returns the keys in file order. */
  public Iterable<String> keys() {
    return byKey.keySet();
  }

  /** Returns the rules with that key, in file order. */
  public List<Rule> withKey(String key) {
    Siblings siblings = byKey.get(key);
    return siblings == null ? List.of() : siblings.all;
  }

  /** Returns whether a rule of this level, or of one below it, has a pattern as its value. */
  public boolean hasPatterns() {
    return byKey.values().stream().anyMatch(siblings -> siblings.patterns != null)
        || rules.stream().anyMatch(rule -> rule.children().hasPatterns());
  }

  /** Returns the rule to which an entry leads, or null. Allocates nothing. */
  @Nullable
  public Rule find(String key, String value) {
    Siblings siblings = byKey.get(key);
    return siblings == null ? null : siblings.find(value);
  }

  /** The rules of one level with the same key. */
  private static final class Siblings {
    final List<Rule> all;
    private final Map<String, Rule> exact = new HashMap<>();
    private final @Nullable AddressRanges<Rule> ranges;
    private final @Nullable Patterns patterns;
    private final @Nullable Rule bare;

    Siblings(List<Rule> rules) {
      all = List.copyOf(rules);
      List<Rule> wildcards = new ArrayList<>();
      Map<String, Rule> byRange = new LinkedHashMap<>();
      Rule withoutValue = null;
      for (Rule rule : rules) {
        if (rule.value().isEmpty()) {
          withoutValue = rule;
        } else {
          // A pattern, too, is first of all the rule for its own text.
          exact.put(rule.value(), rule);
          if (Wildcard.isPattern(rule.value())) {
            wildcards.add(rule);
          } else if (AddressRanges.isRange(rule.value())) {
            byRange.put(rule.value(), rule);
          }
        }
      }
      ranges = byRange.isEmpty() ? null : AddressRanges.of(byRange);
      patterns = wildcards.isEmpty() ? null : new Patterns(wildcards);
      bare = withoutValue;
    }

    @Nullable Rule find(String value) {
      if (!exact.isEmpty()) { // Otherwise the value's hash is not needed.
        Rule rule = exact.get(value);
        if (rule != null) {
          return rule;
        }
      }
      Rule around = ranges == null ? null : ranges.find(value);
      if (around != null) {
        return around;
      }
      Rule matching = patterns == null ? null : patterns.find(value);
      return matching == null ? bare : matching;
    }
  }
}
