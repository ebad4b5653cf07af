package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ExplanationTest {
  private static final RuleSet RULES =
      Texts.rules(
          """
          domain: shop
          descriptors:
            - key: user
              value: alice
            - key: user
              value: "a*"
              descriptors:
                - key: path
                  rate_limit: {unit: minute, requests_per_unit: 5}
            - key: user
              value: "*b*"
              rate_limit: {unit: hour, unit_multiplier: 2, requests_per_unit: 7}
              shadow_mode: true
            - key: user
              rate_limit: {unlimited: true}
          """);

  @Test
  void decision_namesTheRuleAndWhyNotTheOthers() {
    Explanation explanation =
        RULES.explain("shop", List.of(new Entry("user", "abba"), new Entry("path", "/x")));
    assertThat(explanation)
        .hasToString(
            """
            domain shop
            1. user=abba
               -> shop.user_a* (rules.yaml:5:5): first pattern that matches
                  shop.user_*b* (rules.yaml:10:5): pattern matches, but an earlier pattern comes first
                  shop.user (rules.yaml:14:5): takes every value, but an earlier pattern comes first
                  shop.user_alice (rules.yaml:3:5): has another value
            2. path=/x
               -> shop.user_a*.path (rules.yaml:8:9): has this key and takes every value
            decided by shop.user_a*.path (rules.yaml:8:9): 5 per minute, sliding-window\
            """);
    assertThat(explanation.steps().get(0).candidates()).filteredOn(c -> c.chosen()).hasSize(1);
  }

  @Test
  void entriesInTheWrongOrder_areToldTheRightOne() {
    Entry path = new Entry("path", "/x");
    assertThat(RULES.explain("shop", List.of(path, new Entry("user", "abba"))).verdict())
        .isEqualTo(
            "no limit: nothing on level 1 matches; in the order user, path it would be limited");
    assertThat(RULES.explain("shop", List.of(path, new Entry("user", "carl"))).verdict())
        .isEqualTo("no limit: nothing on level 1 matches");
  }

  @Test
  void textOfAPattern_comesBeforeAnEarlierPattern() {
    assertThat(RULES.explain("shop", List.of(new Entry("user", "*b*"))).toString())
        .startsWith(
            """
            domain shop
            1. user=*b*
               -> shop.user_*b* (rules.yaml:10:5): has exactly this value
                  shop.user_a* (rules.yaml:5:5): pattern does not match
                  shop.user (rules.yaml:14:5): takes every value, but an exact value comes first
            """);
  }

  @Test
  void shadowMode_isSaid() {
    assertThat(RULES.explain("shop", List.of(new Entry("user", "bob"))).verdict())
        .isEqualTo(
            "decided by shop.user_*b* (rules.yaml:10:5): 7 per 2 hours, sliding-window,"
                + " in shadow mode");
  }

  @Test
  void sharing_isSaid() {
    RuleSet rules =
        Texts.rules(
            Texts.file(
                "{unit: day, requests_per_unit: 1, store: redis, consistency: approximate,"
                    + " on_failure: allow}"));
    assertThat(rules.explain("d", List.of(new Entry("k", "x"))).verdict())
        .isEqualTo(
            "decided by d.k (rules.yaml:3:5): 1 per day, sliding-window, store shared,"
                + " consistency approximate (sync_interval 1s), on_failure allow");
  }

  @Test
  void queue_isSaid_unlessItHasNoEffect() {
    String yaml =
        Texts.file(
            "{unit: day, requests_per_unit: 1000, on_limit: {queue: {requests: 1000, wait: 2s}}}");
    List<Entry> entries = List.of(new Entry("k", "x"));
    assertThat(Texts.rules(yaml).explain("d", entries).verdict())
        .isEqualTo(
            "decided by d.k (rules.yaml:3:5): 1000 per day, sliding-window, on_limit queue"
                + " (a request beyond the limit waits up to 2s, at most 1,000 for one key)");
    assertThat(Texts.rules(yaml + "    shadow_mode: true\n").explain("d", entries).verdict())
        .endsWith(", on_limit queue (without effect), in shadow mode");
  }

  @Test
  void unlimited_isSaid() {
    assertThat(RULES.explain("shop", List.of(new Entry("user", "zoe"))).verdict())
        .isEqualTo("decided by shop.user (rules.yaml:14:5): unlimited");
  }

  @Test
  void noRule_isSaidWithTheReason() {
    assertThat(verdict("shop", new Entry("user", "alice")))
        .isEqualTo("no limit: shop.user_alice has no rate_limit");
    assertThat(verdict("shop", new Entry("user", "bob"), new Entry("path", "/")))
        .isEqualTo(
            "no limit: shop.user_*b* has no descriptors below it, and the request has 2 entries;"
                + " its rate_limit applies to requests of 1 only");
    assertThat(verdict("shop", new Entry("user", "ann"), new Entry("pth", "/")))
        .isEqualTo("no limit: nothing on level 2 matches");
    assertThat(verdict("shpo", new Entry("user", "ann")))
        .isEqualTo("no limit: domain \"shpo\" is unknown, did you mean \"shop\"?");
    assertThat(verdict("shop")).isEqualTo("no limit: the descriptor has no entries");
  }

  @Test
  void unknownKey_isSaidWithASuggestion() {
    Explanation explanation = RULES.explain("shop", List.of(new Entry("usre", "ann")));
    assertThat(explanation.steps().get(0).note())
        .isEqualTo("no rule here has the key \"usre\", did you mean \"user\"?");
  }

  @Test
  void manyOtherValues_areCounted() {
    StringBuilder yaml = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < 5_000; i++) {
      yaml.append("  - {key: k, value: v%d}\n".formatted(i));
    }
    Explanation explanation =
        Texts.rules(yaml.toString()).explain("d", List.of(new Entry("k", "v7")));
    assertThat(explanation.steps().get(0).candidates()).hasSize(11);
    assertThat(explanation.steps().get(0).note()).isEqualTo("and 4,989 other values of k");
  }

  private static String verdict(String domain, Entry... entries) {
    return RULES.explain(domain, List.of(entries)).verdict();
  }
}
