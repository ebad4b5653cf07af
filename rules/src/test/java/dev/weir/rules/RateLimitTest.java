package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Throttle;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The policies and settings that are made of a rule. */
class RateLimitTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "unit: second, SECOND, PT1S", "unit: MINUTE, MINUTE, PT1M", "unit: Hour, HOUR, PT1H",
    "unit: day, DAY, P1D", "unit: week, WEEK, P7D", "unit: month, MONTH, P30D",
    "unit: year, YEAR, P365D", "window: 90s,, PT90S", "window: 1h30m,, PT90M",
    "window: 1ms,, PT0.001S", "window: 52w2d,, P366D",
  })
  void window_isUnitOrText(String text, RateLimitUnit unit, Duration window) {
    Rule rule = Texts.limit("{" + text + ", requests_per_unit: 7}");
    assertThat(rule.unit()).isEqualTo(unit);
    assertThat(rule.unitMultiplier()).isEqualTo(1);
    assertThat(rule.requestsPerUnit()).isEqualTo(7);
    assertThat(policy(rule).quota()).isEqualTo(Quota.of(7, window));
  }

  @ParameterizedTest
  @CsvSource({
    "month, , 30d, month, 30",
    "Month, 2, 60d, month, 60",
    "YEAR, 1, 365d, year, 365",
  })
  void unitThatIsNotTheCalendars_isAWarning(
      String unit, String multiplier, String window, String name, int days) {
    String times = multiplier == null ? "" : ", unit_multiplier: " + multiplier;
    String yaml = Texts.file("{unit: " + unit + times + ", requests_per_unit: 7}");
    assertThat(Texts.problems(yaml))
        .containsExactly(
            "rules.yaml:4:18 unit: %s (expected: window: %s, which is the same; no %s of the calendar, a fixed-window begins every %d days since 1970)"
                .formatted(unit, window, name, days));
    assertThat(Texts.problems(yaml.replace("unit: " + unit + times, "window: " + window)))
        .isEmpty();
    assertThat(Rules.parse("rules.yaml", yaml).ruleSet()).isNotNull();
  }

  @Test
  void unitMultiplier_makesTheWindowLonger() {
    Rule rule = Texts.limit("{unit: minute, unit_multiplier: 5, requests_per_unit: 7}");
    assertThat(rule.unit()).isEqualTo(RateLimitUnit.MINUTE);
    assertThat(rule.unitMultiplier()).isEqualTo(5);
    assertThat(policy(rule).quota()).isEqualTo(Quota.of(7, Duration.ofMinutes(5)));
  }

  @Test
  void costs_areBeforeOrReported() {
    String limit = "{unit: day, requests_per_unit: 7";
    assertThat(Texts.limit(limit + "}").costs()).isEqualTo(CostMode.BEFORE);
    assertThat(Texts.limit(limit + ", costs: Before}").costs()).isEqualTo(CostMode.BEFORE);
    assertThat(Texts.limit(limit + ", costs: reported}").costs()).isEqualTo(CostMode.REPORTED);
    assertThat(Texts.limit(limit + ", costs: held}").costs()).isEqualTo(CostMode.HELD);
  }

  @Test
  void reportedCosts_areRefusedInQuotaMode() {
    String yaml = Texts.file("{unit: day, requests_per_unit: 7, costs: reported}");
    assertThat(Texts.problems(yaml + "    quota_mode: true\n"))
        .containsExactly(
            "rules.yaml:4:51 costs: reported (expected: before, in quota_mode; a report is counted"
                + " in each of the rules)");
    assertThat(Texts.problems(yaml + "    shadow_mode: true\n")).isEmpty();
  }

  @Test
  void everyAlgorithm_isKnownByItsText() {
    for (Algorithm algorithm : Algorithm.rates()) {
      Rule rule =
          Texts.limit("{unit: day, requests_per_unit: 7, algorithm: " + algorithm.text() + "}");
      assertThat(policy(rule).algorithm()).isEqualTo(algorithm);
    }
    assertThat(policy(Texts.limit("{unit: day, requests_per_unit: 7}")).algorithm())
        .isEqualTo(Algorithm.SLIDING_WINDOW);
  }

  @Test
  void options_reachThePolicy() {
    Policy bucket =
        policy(
            Texts.limit(
                "{unit: day, requests_per_unit: 7, algorithm: token-bucket, burst: 9, on_failure:"
                    + " ALLOW}"));
    assertThat(bucket.burst()).isEqualTo(9);
    assertThat(bucket.sharing().onFailure()).isEqualTo(FailureMode.ALLOW);
    Policy buckets =
        policy(
            Texts.limit(
                "{unit: day, requests_per_unit: 7, algorithm: sliding-window-buckets, granularity:"
                    + " 1h, on_failure: deny}"));
    assertThat(buckets.granularityNanos()).isEqualTo(Duration.ofHours(1).toNanos());
    assertThat(buckets.sharing().onFailure()).isEqualTo(FailureMode.DENY);
  }

  @Test
  void sharing_isStrictInTheDefaultStoreAndDenies_unlessTheRuleSaysOtherwise() {
    Rule plain = Texts.limit("{unit: day, requests_per_unit: 7}");
    assertThat(plain.store()).isEqualTo(StoreChoice.DEFAULT);
    assertThat(policy(plain).sharing().consistency()).isEqualTo(Consistency.STRICT);
    assertThat(policy(plain).sharing().onFailure()).isEqualTo(FailureMode.DENY);

    Rule local =
        Texts.limit("{unit: day, requests_per_unit: 7, store: local, consistency: strict}");
    assertThat(local.store()).isEqualTo(StoreChoice.LOCAL);

    Rule shared =
        Texts.limit(
            "{unit: minute, requests_per_unit: 7, store: Redis, consistency: Leased, sync_interval:"
                + " 200ms, on_failure: LOCAL, local_share: 25%}");
    assertThat(shared.store()).isEqualTo(StoreChoice.SHARED);
    assertThat(policy(shared).sharing().consistency()).isEqualTo(Consistency.LEASED);
    assertThat(policy(shared).sharing().syncIntervalNanos()).isEqualTo(200_000_000L);
    assertThat(policy(shared).sharing().onFailure()).isEqualTo(FailureMode.LOCAL);
    assertThat(policy(shared).sharing().localShare()).isEqualTo(0.25);

    Rule approximate =
        Texts.limit("{unit: minute, requests_per_unit: 7, consistency: approximate}");
    assertThat(approximate.store()).isEqualTo(StoreChoice.DEFAULT);
    assertThat(policy(approximate).sharing().consistency()).isEqualTo(Consistency.APPROXIMATE);
    assertThat(policy(approximate).sharing().syncIntervalNanos()).isEqualTo(1_000_000_000L);

    assertThat(Texts.limit("{unlimited: true}").store()).isEqualTo(StoreChoice.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource({
    "25%, 0.25",
    "0.25, 0.25",
    "'\"25%\"', 0.25",
    "100%, 1",
    "1, 1",
    "1.0, 1",
    "0.0001%, 1e-6",
    "33.3333%, 0.333333",
    "007%, 0.07"
  })
  void localShare_isAPercentageOrAFraction(String text, double share) {
    String limit = "{unit: day, requests_per_unit: 7, on_failure: local, local_share: ";
    assertThat(policy(Texts.limit(limit + text + "}")).sharing().localShare()).isEqualTo(share);
  }

  @ParameterizedTest
  @CsvSource({
    "hard, hard",
    "'{soft: 5%}', soft 5%",
    "'{soft: 0.05}', soft 5%",
    "'{soft: 100%}', soft 100%",
    "elastic, elastic below 70%",
    "'{elastic: 85.5%}', elastic below 85.5%",
  })
  void throttle_isAName_orAShare(String text, String throttle) {
    Policy policy =
        policy(Texts.limit("{unit: day, requests_per_unit: 700, throttle: " + text + "}"));
    assertThat(policy.throttle()).hasToString(throttle);
    assertThat(policy.quota().permits()).isEqualTo(700);
    assertThat(policy(Texts.limit("{unit: day, requests_per_unit: 7}")).throttle())
        .isEqualTo(Throttle.HARD);
  }

  @Test
  void onLimit_isDropOrAQueue() {
    String limit = "{unit: day, requests_per_unit: 700%s}";
    assertThat(Texts.limit(limit.formatted("")).queue()).isNull();
    assertThat(Texts.limit(limit.formatted(", on_limit: drop")).queue()).isNull();
    assertThat(
            Texts.limit(limit.formatted(", on_limit: {queue: {requests: 700, wait: 1m}}")).queue())
        .isEqualTo(new QueueBounds(700, 60_000_000_000L));
    assertThat(
            Texts.limit(limit.formatted(", on_limit: {queue: {wait: 1ms, requests: 1}}")).queue())
        .isEqualTo(new QueueBounds(1, 1_000_000));
  }

  @Test
  void finestGranularity_isAcceptedForOddWindows() {
    // The bound in a message must be one that is accepted.
    for (String window : List.of("1ms", "7ms", "4097ms", "1h", "366d")) {
      String limit = "{window: " + window + ", requests_per_unit: 500, granularity: ";
      String refused = Texts.problems(Texts.file(limit + "0s}")).get(0);
      String least = refused.substring(refused.indexOf("(expected: ") + 11, refused.indexOf(".."));
      assertThat(Texts.limit(limit + least + "}").policy()).isNotNull();
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "4294967295", "1_000", "4_294_967_295"})
  void numbers_fromZeroToTheMost(String number) {
    Rule rule = Texts.limit("{unit: day, requests_per_unit: " + number + "}");
    assertThat(rule.requestsPerUnit()).isEqualTo(Long.parseLong(number.replace("_", "")));
  }

  @Test
  void policy_isNamedByTheRuleOrItsPath() {
    assertThat(policy(Texts.limit("{unit: day, requests_per_unit: 7}")).name()).isEqualTo("d.k");
    Rule named = Texts.limit("{unit: day, requests_per_unit: 7, name: mine}");
    assertThat(policy(named).name()).isEqualTo("mine");
    assertThat(named.name()).isEqualTo("mine");
    assertThat(named.path()).isEqualTo("d.k");
  }

  @Test
  void unlimited_hasNoPolicy() {
    Rule rule = Texts.limit("{unlimited: true, name: vip, replaces: [{name: a}, {name: b}]}");
    assertThat(rule.policy()).isNull();
    assertThat(rule.unit()).isNull();
    assertThat(rule.unlimited()).isTrue();
    assertThat(rule.replaces()).containsExactly("a", "b");
    assertThat(Texts.limit("{unlimited: false, unit: day, requests_per_unit: 7}").policy())
        .isNotNull();
  }

  @Test
  void everyKey_isRead() {
    RuleSet rules =
        Texts.rules(
            """
            domain: foo
            descriptors:
              - key: k1
                value: "v*"
                share_threshold: true
                value_to_metric: true
                descriptors:
                  - key: k2
                    value: 404
                    shadow_mode: true
                    quota_mode: true
                    detailed_metric: true
                    metadata:
                      owner: team
                      numbers: [1, 0x10, 1.5, true, ~, "2"]
                      nested: {a: {b: c}}
                    rate_limit: {unit: second, requests_per_unit: 1}
            """);
    Rule rule = rules.rules().get(0);
    assertThat(rule.domain()).isEqualTo("foo");
    assertThat(rule.path()).isEqualTo("foo.k1_v*.k2_404");
    assertThat(rule.levels()).isEqualTo(2);
    assertThat(rule.patternAt(0)).isEqualTo("v*");
    assertThat(rule.patternAt(1)).isEqualTo("404");
    assertThat(rule.sharedAt(0)).isTrue();
    assertThat(rule.sharedAt(1)).isFalse();
    assertThat(rule.valueToMetricAt(0)).isTrue();
    assertThat(rule.valueToMetric()).isFalse();
    assertThat(rule.shadowMode()).isTrue();
    assertThat(rule.quotaMode()).isTrue();
    assertThat(rule.detailedMetric()).isTrue();
    assertThat(rule.position()).isEqualTo(new Position("rules.yaml", 8, 9));
    assertThat(rule.metadata())
        .isEqualTo(
            Map.of(
                "owner",
                "team",
                "numbers",
                Arrays.asList(1L, 16L, 1.5, true, null, "2"),
                "nested",
                Map.of("a", Map.of("b", "c"))));
    assertThat(rules.domains()).containsExactly("foo");
  }

  @Test
  void metadata_cannotBeChanged() {
    Rule rule =
        Texts.rule(
            """
            domain: d
            descriptors:
              - key: k
                metadata: {list: [1], map: {a: b}}
                rate_limit: {unit: day, requests_per_unit: 1}
            """);
    assertThat(rule.metadata()).isUnmodifiable();
    assertThat((List<?>) rule.metadata().get("list")).isUnmodifiable();
    assertThat((Map<?, ?>) rule.metadata().get("map")).isUnmodifiable();
  }

  @Test
  void anchorsAndMerges_areWrittenOut() {
    RuleSet rules =
        Texts.rules(
            """
            domain: d
            descriptors:
              - key: a
                rate_limit: &slow {unit: day, requests_per_unit: 1}
              - key: b
                rate_limit: *slow
              - key: c
                rate_limit:
                  <<: *slow
                  requests_per_unit: 2
            """);
    assertThat(rules.rules()).extracting(Rule::requestsPerUnit).containsExactly(1L, 1L, 2L);
    assertThat(rules.rules()).extracting(Rule::unit).containsOnly(RateLimitUnit.DAY);
  }

  private static Policy policy(Rule rule) {
    return Objects.requireNonNull(rule.policy());
  }
}
