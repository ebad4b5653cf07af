package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.NaiveMatcher;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PatternsTest {
  /** Returns rules of those values, which are different patterns. */
  private static List<Rule> rules(Iterable<String> values) {
    StringBuilder text = new StringBuilder("domain: d\ndescriptors:\n");
    for (String value : values) {
      text.append("  - {key: k, value: \"")
          .append(value)
          .append("\", rate_limit: {unit: minute, requests_per_unit: 1}}\n");
    }
    RuleSet set = Objects.requireNonNull(Rules.parse("r.yaml", text.toString()).ruleSet());
    return new ArrayList<>(set.rules());
  }

  private static String text(SplittableRandom random, String letters, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }

  /** Compares with regular expressions that are tried one after the other. */
  @Test
  void firstMatchInFileOrder_agreesWithRegularExpressions() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("first patterns", runs);
    int found = 0;
    for (int run = 0; run < runs; run++) {
      Set<String> values = new LinkedHashSet<>();
      for (int i = random.nextInt(1, 12); i > 0; i--) {
        values.add(text(random, "ab", 4) + "*" + text(random, "ab*", 3));
      }
      List<Rule> rules = rules(values);
      Patterns patterns = new Patterns(rules);
      for (int i = 0; i < 20; i++) {
        String value = text(random, "abc", 7);
        Rule expected = null;
        for (Rule rule : rules) {
          if (expected == null && NaiveMatcher.regex(rule.value()).matcher(value).matches()) {
            expected = rule;
          }
        }
        found += expected == null ? 0 : 1;
        assertThat(patterns.find(value)).as("%s in %s", value, values).isSameAs(expected);
      }
    }
    assertThat(found).isGreaterThan(runs);
  }

  /** Texts of one hash: "Aa" and "BB" have the same, so have all texts made of these two. */
  @Test
  void headsOfOneHash_areDistinguished() {
    List<String> heads = new ArrayList<>(List.of(""));
    for (int i = 0; i < 6; i++) {
      List<String> longer = new ArrayList<>();
      heads.forEach(head -> longer.addAll(List.of(head + "Aa", head + "BB")));
      heads = longer;
    }
    List<Rule> rules = rules(heads.stream().map(head -> head + "*").toList());
    Patterns patterns = new Patterns(rules);
    for (int i = 0; i < heads.size(); i++) {
      assertThat(patterns.find(heads.get(i) + "x")).isSameAs(rules.get(i));
    }
    assertThat(patterns.find("AaAaAaAaAaA")).isNull();
  }
}
