package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleDiffTest {
  @ParameterizedTest(name = "{2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "unit: minute, requests_per_unit: 10 | unit: minute, requests_per_unit: 20 | 10 per minute"
            + " -> 20 per minute",
        "unit: minute, requests_per_unit: 10 | unit: hour, requests_per_unit: 10   | 10 per minute"
            + " -> 10 per hour",
        "unit: minute, requests_per_unit: 10 | window: 90s, requests_per_unit: 10  | 10 per minute"
            + " -> 10 per 1m30s",
        "unit: day, requests_per_unit: 10 | unit: day, unit_multiplier: 2, requests_per_unit: 10 |"
            + " 10 per day -> 10 per 2 days",
        "unit: day, requests_per_unit: 10 | unlimited: true | 10 per day -> unlimited",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, algorithm:"
            + " token-bucket | algorithm sliding-window -> token-bucket",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, max_keys: 7 |"
            + " max_keys none -> 7",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, throttle: {soft: 25%}"
            + " | throttle hard -> soft 25% (with it 12)",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, throttle: elastic |"
            + " throttle hard -> elastic below 70%",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, on_limit: {queue:"
            + " {requests: 5, wait: 2s}} | on_limit drop -> queue (requests 5, wait 2s)",
        "unit: day, requests_per_unit: 10, on_limit: {queue: {requests: 5, wait: 2s}} | unit: day,"
            + " requests_per_unit: 10, on_limit: {queue: {requests: 5, wait: 250ms}} | on_limit"
            + " queue (requests 5, wait 2s) -> queue (requests 5, wait 250ms)",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, when_full: sketch |"
            + " when_full deny -> sketch",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, on_failure: allow |"
            + " on_failure deny -> allow",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, on_failure: local,"
            + " local_share: 7% | on_failure deny -> local (local_share 7%)",
        "unit: day, requests_per_unit: 10, on_failure: local, local_share: 100% | unit: day,"
            + " requests_per_unit: 10, on_failure: local, local_share: 0.0001 | on_failure local"
            + " (local_share 100%) -> local (local_share 0.01%)",
        "unit: day, requests_per_unit: 10, store: local | unit: day, requests_per_unit: 10, store:"
            + " redis | store local -> shared (counts do not move between stores: for a window,"
            + " both quotas can be admitted)",
        "unit: day, requests_per_unit: 10, store: redis | unit: day, requests_per_unit: 10 | store"
            + " shared -> default (counts do not move between stores: for a window, both quotas can"
            + " be admitted)",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, consistency: leased |"
            + " consistency strict -> leased (sync_interval 1s)",
        "unit: day, requests_per_unit: 10, consistency: leased | unit: day, requests_per_unit: 10,"
            + " consistency: approximate, sync_interval: 1m | consistency leased (sync_interval 1s)"
            + " -> approximate (sync_interval 1m)",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, name: x | name \"\""
            + " -> \"x\"",
        "unit: day, requests_per_unit: 10 | unit: day, requests_per_unit: 10, replaces: [{name: x}]"
            + " | replaces [] -> [x]",
        "unit: day, requests_per_unit: 10, algorithm: token-bucket | unit: day, requests_per_unit:"
            + " 10, algorithm: token-bucket, burst: 3 | burst 10 -> 3",
        "unit: day, requests_per_unit: 999 | unit: day, requests_per_unit: 999, granularity: 1h |"
            + " granularity 45m -> 1h",
      })
  void changedLimit_isSaid(String before, String after, String change) {
    RuleSet older = Texts.rules(Texts.file("{" + before + "}"));
    RuleSet newer = Texts.rules(Texts.file("{" + after + "}"));
    assertThat(older.diff(newer)).containsExactly("d.k: " + change);
    assertThat(older.diff(older)).isEmpty();
  }

  @Test
  void addedRemovedAndSwitchedRules_areSaid() {
    RuleSet older =
        Texts.rules(
            """
            domain: foo
            descriptors:
              - key: k1
                value: v1
                rate_limit: {unit: minute, requests_per_unit: 10}
              - key: k2
                rate_limit: {unit: second, requests_per_unit: 5}
                descriptors:
                  - {key: inner, rate_limit: {unlimited: true}}
              - key: exempt
            """);
    RuleSet newer =
        Texts.rules(
            """
            domain: foo
            descriptors:
              - key: k1
                value: v1
                shadow_mode: true
                quota_mode: true
                detailed_metric: true
                value_to_metric: true
                metadata: {a: b}
                rate_limit: {unit: minute, requests_per_unit: 10}
              - key: k3
                shadow_mode: true
                rate_limit: {unit: second, requests_per_unit: 5, algorithm: fixed-window}
            """);
    assertThat(older.diff(newer))
        .containsExactly(
            "foo.k1_v1: shadow mode on",
            "foo.k1_v1: quota mode on",
            "foo.k1_v1: detailed metric on",
            "foo.k1_v1: value in metric of level 1 on",
            "foo.k1_v1: metadata changed",
            "foo.k3: added, 5 per second by fixed-window, shadow mode on",
            "foo.k2: removed, was 5 per second by sliding-window",
            "foo.k2.inner: removed, was unlimited",
            "foo.exempt: removed, was no limit");
    assertThat(newer.diff(older))
        .contains("foo.k1_v1: shadow mode off", "foo.exempt: added, no limit");
  }

  @Test
  void addedSharedRule_isSaidWithItsStore() {
    RuleSet shared =
        Texts.rules(
            Texts.file(
                "{unit: day, requests_per_unit: 1, store: redis, consistency: leased,"
                    + " sync_interval: 1m, on_failure: local, local_share: 50%}"));
    assertThat(Texts.rules("domain: d\n").diff(shared))
        .containsExactly(
            "d.k: added, 1 per day by sliding-window, store shared,"
                + " consistency leased (sync_interval 1m), on_failure local (local_share 50%)");
  }

  @Test
  void domains_areSaid() {
    RuleSet foo = Texts.rules("domain: foo\n");
    RuleSet bar = Texts.rules("domain: bar\n");
    assertThat(foo.diff(bar)).containsExactly("domain bar: added", "domain foo: removed");
    assertThat(RuleSet.EMPTY.diff(foo)).containsExactly("domain foo: added");
  }

  @Test
  void sharedThresholdAndOrderOfPatterns_areSaid() {
    String rule = "  - {key: k, value: \"%s\", rate_limit: {unit: day, requests_per_unit: 1}%s}\n";
    String a = rule.formatted("*a", "");
    String b = rule.formatted("b*", "");
    String shared = rule.formatted("b*", ", share_threshold: true");
    String head = "domain: d\ndescriptors:\n";
    assertThat(Texts.rules(head + a + b).diff(Texts.rules(head + b + a)))
        .containsExactly("d.k: patterns are tried in the order b*, *a");
    assertThat(Texts.rules(head + a + b).diff(Texts.rules(head + a + shared)))
        .containsExactly("d.k_b*: shared threshold of level 1 on");
    assertThat(Texts.rules(head + a).diff(Texts.rules(head + b + a)))
        .containsExactly("d.k_b*: added, 1 per day by sliding-window");
  }
}
