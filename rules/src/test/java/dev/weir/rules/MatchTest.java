package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weir.rules.NaiveMatcher.Node;
import dev.weir.testkit.Trials;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MatchTest {
  private static final String RULES =
      """
      domain: foo
      descriptors:
        - key: k
          value: exact
          rate_limit: {unit: minute, requests_per_unit: 1}
        - key: k
          value: "ex*"
          rate_limit: {unit: minute, requests_per_unit: 2}
        - key: k
          value: "*act*ly*"
          rate_limit: {unit: minute, requests_per_unit: 3}
        - key: k
          value: "e*"
          rate_limit: {unit: minute, requests_per_unit: 4}
        - key: k
          value: "exactly*"
          rate_limit: {unit: minute, requests_per_unit: 4}
        - key: k
          rate_limit: {unit: minute, requests_per_unit: 5}
        - key: k
          value: exempt
        - key: free
          rate_limit: {unlimited: true}
        - key: user
          rate_limit: {unit: hour, requests_per_unit: 6}
          descriptors:
            - key: path
              value: "/a/*"
              rate_limit: {unit: second, requests_per_unit: 7}
            - key: path
              descriptors:
                - key: method
                  rate_limit: {unit: second, requests_per_unit: 8}
        - key: only
          value: this
          rate_limit: {unit: second, requests_per_unit: 9}
      """;

  @ParameterizedTest(name = "{0} {1} -> {2}")
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "foo | k=exact                         | foo.k_exact",
        "foo | k=exa                           | foo.k_ex*",
        "foo | k=ex                            | foo.k_ex*",
        "foo | k=exactly                       | foo.k_ex*",
        "foo | k=an actual fly                 | foo.k_*act*ly*",
        "foo | k=actly                         | foo.k_*act*ly*",
        "foo | k=actl                          | foo.k",
        "foo | k=e                             | foo.k_e*",
        "foo | k=ex*                           | foo.k_ex*",
        "foo | k=e*ly*                         | foo.k_e*",
        "foo | k=exactly*                      | foo.k_exactly*",
        "foo | k=                              | foo.k",
        "foo | k=other                         | foo.k",
        "foo | k=exempt                        | none",
        "foo | free=x                          | foo.free",
        "foo | user=u                          | foo.user",
        "foo | user=u,path=/a/b                | foo.user.path_/a/*",
        "foo | user=u,path=/b                  | none",
        "foo | user=u,path=/b,method=GET       | foo.user.path.method",
        "foo | user=u,path=/a/b,method=GET     | none",
        "foo | user=u,path=/b,method=GET,x=y   | none",
        "foo | user=u,other=x                  | none",
        "foo | only=this                       | foo.only_this",
        "foo | only=that                       | none",
        "foo | K=exact                         | none",
        "foo | path=/a/b                       | none",
        "bar | k=exact                         | none",
        "''  | k=exact                         | none",
      })
  void rule_isTheNodeOfTheLastEntry(String domain, String descriptor, String path) {
    List<Entry> entries = new ArrayList<>();
    for (String pair : descriptor.split(",", -1)) {
      int at = pair.indexOf('=');
      entries.add(new Entry(pair.substring(0, at), pair.substring(at + 1)));
    }
    RuleSet rules = Texts.rules(RULES);
    Rule rule = rules.match(domain, entries);
    assertThat(rule == null ? null : rule.path()).isEqualTo(path);
    assertThat(rules.explain(domain, entries).rule()).isSameAs(rule);
  }

  @Test
  void noEntries_matchNothing() {
    RuleSet rules = Texts.rules(RULES);
    assertThat(rules.match("foo", List.of())).isNull();
    assertThat(rules.explain("foo", List.of()).rule()).isNull();
  }

  @Test
  void emptySet_matchesNothing() {
    assertThat(RuleSet.EMPTY.match("foo", List.of(new Entry("k", "v")))).isNull();
    assertThat(RuleSet.EMPTY.isEmpty()).isTrue();
    assertThat(RuleSet.EMPTY.rules()).isEmpty();
  }

  @Test
  void keysAndValuesThatJoinAlike_areToldApart() {
    RuleSet rules =
        Texts.rules(
            """
            domain: foo
            descriptors:
              - key: a_b
                value: c
                rate_limit: {unit: minute, requests_per_unit: 1}
            """);
    assertThat(rules.match("foo", List.of(new Entry("a_b", "c")))).isNotNull();
    assertThat(rules.match("foo", List.of(new Entry("a", "b_c")))).isNull();
  }

  @Test
  void matching_allocatesNothing() {
    RuleSet rules = Texts.rules(RULES);
    List<Entry> entries = List.of(new Entry("user", "u"), new Entry("path", "/a/b"));
    List<Entry> wildcard = List.of(new Entry("k", "an actual fly"));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int matched = matches(rules, entries, wildcard);
    long before = threads.getCurrentThreadAllocatedBytes();
    matched += matches(rules, entries, wildcard);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(matched).isEqualTo(4 * 100_000);
    // A single object for each match would be 1.6 MB; the measurement itself allocates far less.
    assertThat(allocated).isLessThan(100_000);
  }

  private static int matches(RuleSet rules, List<Entry> first, List<Entry> second) {
    int matched = 0;
    for (int i = 0; i < 100_000; i++) {
      matched += rules.match("foo", first) == null ? 0 : 1;
      matched += rules.match("foo", second) == null ? 0 : 1;
    }
    return matched;
  }

  @Test
  void randomTrees_agreeWithTheNaiveMatcher() {
    int runs = 300;
    long seed = Trials.random("trees of rules", runs).nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < runs; round++) {
      Node root = new Node("", "", false, randomLevel(random, 0));
      StringBuilder yaml = new StringBuilder("domain: d\n");
      write(root.children(), "", yaml);
      RuleSet rules = Texts.rules(yaml.toString());
      for (int i = 0; i < 200; i++) {
        List<Entry> entries = randomEntries(random);
        Node expected = NaiveMatcher.match(root, entries);
        Rule actual = rules.match("d", entries);
        String context = "seed %d, entries %s in%n%s".formatted(seed, entries, yaml);
        assertThat(actual != null).as(context).isEqualTo(expected != null);
        if (actual != null && expected != null) {
          assertThat(actual.key()).as(context).isEqualTo(expected.key());
          assertThat(actual.value()).as(context).isEqualTo(expected.value());
        }
        assertThat(rules.explain("d", entries).rule()).as(context).isSameAs(actual);
      }
    }
  }

  /** Returns a text of few letters, so that values, patterns and requests meet often. */
  private static String randomText(Random random, String letters, int maxLength) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(maxLength + 1);
    for (int i = 0; i < length; i++) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }

  private static List<Node> randomLevel(Random random, int depth) {
    List<Node> level = new ArrayList<>();
    Set<List<String>> taken = new HashSet<>();
    int count = depth == 0 ? 1 + random.nextInt(8) : random.nextInt(5);
    for (int i = 0; i < count; i++) {
      String key = random.nextBoolean() ? "x" : "y";
      String value = randomText(random, "ab*", 4);
      if (taken.add(List.of(key, value))) {
        List<Node> children = depth < 3 ? randomLevel(random, depth + 1) : List.of();
        level.add(new Node(key, value, random.nextInt(4) > 0, children));
      }
    }
    return level;
  }

  private static List<Entry> randomEntries(Random random) {
    List<Entry> entries = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      entries.add(new Entry(random.nextBoolean() ? "x" : "y", randomText(random, "ab*", 5)));
    }
    return entries;
  }

  private static void write(List<Node> level, String indent, StringBuilder yaml) {
    if (level.isEmpty()) {
      return;
    }
    yaml.append(indent).append("descriptors:\n");
    for (Node node : level) {
      yaml.append(indent).append("  - key: ").append(node.key()).append('\n');
      String inner = indent + "    ";
      if (!node.value().isEmpty()) {
        yaml.append(inner).append("value: '").append(node.value()).append("'\n");
      }
      if (node.limited()) {
        yaml.append(inner).append("rate_limit: {unit: second, requests_per_unit: 1}\n");
      }
      write(node.children(), inner, yaml);
    }
  }
}
