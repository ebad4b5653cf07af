package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.MatchBudget;
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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        Rule expected = naive(rules, value);
        found += expected == null ? 0 : 1;
        assertThat(patterns.find(value)).as("%s in %s", value, values).isSameAs(expected);
      }
    }
    assertThat(found).isGreaterThan(runs);
  }

  private static @Nullable Rule naive(List<Rule> rules, String value) {
    for (Rule rule : rules) {
      if (NaiveMatcher.regex(rule.value()).matcher(value).matches()) {
        return rule;
      }
    }
    return null;
  }

  private static String words(SplittableRandom random, String[] words, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, most + 1); i > 0; i--) {
      text.append(words[random.nextInt(words.length)]);
    }
    return text.toString();
  }

  /** Many patterns of few words, so that heads, tails and middle parts are shared and overlap. */
  @Test
  void manyPatternsOfFewWords_agreeWithRegularExpressions() {
    int runs = 300;
    SplittableRandom random = Trials.random("patterns of words", runs);
    String[] inPatterns = {"*", "*", "/a", "/ab", "b/", "x", "aa", "/a/b", "Aa", "BB"};
    String[] inValues = {"/a", "/ab", "b/", "x", "aa", "a", "/a/b", "Aa", "BB", "/"};
    int found = 0;
    for (int run = 0; run < runs; run++) {
      Set<String> values = new LinkedHashSet<>();
      for (int i = random.nextInt(5, 60); i > 0; i--) {
        values.add(words(random, inPatterns, 3) + "*" + words(random, inPatterns, 4));
      }
      List<Rule> rules = rules(values);
      Patterns patterns = new Patterns(rules);
      for (int i = 0; i < 40; i++) {
        String value = words(random, inValues, 8);
        Rule expected = naive(rules, value);
        found += expected == null ? 0 : 1;
        assertThat(patterns.find(value)).as("%s in %s", value, values).isSameAs(expected);
      }
    }
    assertThat(found).isGreaterThan(runs);
  }

  /** Returns the steps of looking up values, which a rule must match only where {@code matches}. */
  private static long steps(Patterns patterns, List<String> values, boolean matches) {
    MatchBudget budget = MatchBudget.ofThread();
    budget.begin();
    try {
      for (String value : values) {
        assertThat(patterns.find(value) != null).as(value).isEqualTo(matches);
      }
      return budget.taken();
    } finally {
      budget.end();
    }
  }

  private static List<String> numbered(String format, int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> format.formatted(i)).toList();
  }

  /** A call of 1,000 checks with 10 values each, on a level of 8,000 patterns. */
  @ParameterizedTest
  @CsvSource({
    "/api/v1/tenants/%d/*, /api/v1/tenants/%d/users",
    "/api/v1/*/tenants/%d, /api/v1/users/tenants/%d",
    "*.t%d.example.com, www.t%d.example.com",
    "/api/*/tenants/%d/*, /api/users/tenants/%d/x",
    "/api/*/tenants/%d/*/v1/services/of/everyone, /api/u/tenants/%d/x/v1/services/of/everyone",
    "'*/a/%d/*', /users/a/%d/b"
  })
  void valuesAmong8000Patterns_areComparedWithFew(String pattern, String value) {
    Patterns patterns = new Patterns(rules(numbered(pattern, 0, 8_000)));
    assertThat(steps(patterns, numbered(value, 8_000, 18_000), false)).isLessThan(200_000);
    assertThat(steps(patterns, numbered(value, 0, 8_000), true)).isLessThan(200_000);
  }

  /** Patterns of the same parts, for which no index helps, and a value that nearly matches all. */
  @Test
  void patternsThatNoIndexTellsApart_endAtTheBudget() {
    List<String> values = new ArrayList<>();
    for (int i = 0; i < 1 << 13; i++) {
      StringBuilder value = new StringBuilder();
      for (int bit = 0; bit < 13; bit++) {
        value.append('*').append((i >> bit & 1) == 0 ? 'a' : 'c');
      }
      values.add(value + "*Z");
    }
    Patterns patterns = new Patterns(rules(values));
    String value = "ac" + "b".repeat(4_000) + "Z";
    assertThat(patterns.find(value)).isNull(); // Outside of a call there is no bound.
    MatchBudget budget = MatchBudget.ofThread();
    budget.begin();
    try {
      assertThat(patterns.find(value)).isNull();
      assertThat(budget.isSpent()).isTrue();
      assertThat(budget.taken()).isBetween(2_000_000L, 2_010_000L);
      assertThat(patterns.find("acacacacacacacacacacacacacZ")).isNull();
      assertThat(budget.taken()).isLessThan(2_010_000L);
    } finally {
      budget.end();
    }
    assertThat(patterns.find("acacacacacacacacacacacacacZ")).isNotNull();
  }

  /** A part that a value repeats does not make its patterns be compared again. */
  @Test
  void partThatIsRepeated_isComparedOnce() {
    Patterns patterns =
        new Patterns(
            rules(IntStream.range(0, 50).mapToObj(i -> "*ab*" + "*c".repeat(i) + "*").toList()));
    assertThat(steps(patterns, List.of("ab".repeat(500)), true)).isLessThan(2_000);
    patterns =
        new Patterns(
            rules(IntStream.range(1, 50).mapToObj(i -> "*ab*" + "*c".repeat(i) + "*").toList()));
    assertThat(steps(patterns, List.of("ab".repeat(500)), false)).isLessThan(20_000);
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
