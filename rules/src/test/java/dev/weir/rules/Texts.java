package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;

/** Rule files as texts. */
public final class Texts {
  private Texts() {}

  /** Returns the rules of a text that has no error. */
  public static RuleSet rules(String yaml) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.problems()).noneMatch(problem -> problem.severity() == Severity.ERROR);
    return Objects.requireNonNull(loaded.ruleSet());
  }

  /** Returns the only rule of a text. */
  static Rule rule(String yaml) {
    List<Rule> rules = rules(yaml).rules();
    assertThat(rules).hasSize(1);
    return rules.get(0);
  }

  /** Returns the rule with that rate_limit, which is written on one line in braces. */
  static Rule limit(String rateLimit) {
    return rule(file(rateLimit));
  }

  /** Returns a file with one rule; the value of rate_limit begins at line 4, column 17. */
  public static String file(String rateLimit) {
    return "domain: d\ndescriptors:\n  - key: k\n    rate_limit: " + rateLimit + "\n";
  }

  /** Returns the problems as printed, errors and warnings. */
  public static List<String> problems(String yaml) {
    return Rules.parse("rules.yaml", yaml).problems().stream().map(Problem::toString).toList();
  }
}
