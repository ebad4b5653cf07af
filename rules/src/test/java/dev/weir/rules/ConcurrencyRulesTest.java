package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Policy;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConcurrencyRulesTest {
  private static Rules.LoadResult parse(String limit) {
    return Rules.parse(
        "rules.yaml",
        """
        domain: shop
        descriptors:
          - key: user
            rate_limit: {%s}
        """
            .formatted(limit));
  }

  private static Policy policy(String limit) {
    Rules.LoadResult loaded = parse(limit);
    assertThat(loaded.problems()).isEmpty();
    RuleSet rules = Objects.requireNonNull(loaded.ruleSet());
    return Objects.requireNonNull(rules.rules().get(0).policy());
  }

  @Test
  void concurrency_isALimitAtTheSameTime() {
    Policy policy =
        policy("concurrency: 5, hold: 30s, on_limit: {queue: {requests: 50, wait: 2s}}");
    assertThat(policy.algorithm()).isEqualTo(Algorithm.CONCURRENCY);
    assertThat(policy.quota().permits()).isEqualTo(5);
    assertThat(policy.quota().window()).isEqualTo(Duration.ofSeconds(30));
    assertThat(policy).hasToString("shop.user: 5 at once, hold PT30S, concurrency");
  }

  @Test
  void ruleWithoutHold_holdsForAMinute() {
    Policy policy = policy("concurrency: 1, algorithm: concurrency, consistency: strict");
    assertThat(policy.quota().window()).isEqualTo(Duration.ofMinutes(1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          concurrency: 5, unit: minute              | unit: minute (expected: none beside concurrency)
          concurrency: 5, window: 1m                | window: 1m (expected: none beside concurrency)
          concurrency: 5, requests_per_unit: 5      | requests_per_unit: 5 (expected: none beside concurrency)
          concurrency: 5, burst: 5                  | burst: 5 (expected: none with concurrency
          concurrency: 5, by: user                  | by: user (expected: none beside concurrency)
          concurrency: 5, algorithm: token-bucket   | algorithm: token-bucket (expected: concurrency beside concurrency)
          concurrency: 5, consistency: leased       | consistency: leased (expected: strict beside concurrency)
          concurrency: 5, when_full: sketch         | when_full: sketch (expected: deny beside concurrency)
          concurrency: 5, costs: reported           | costs: reported (expected: before beside concurrency)
          concurrency: 65537                        | concurrency: 65537 (expected: 0..65536)
          concurrency: -1                           | concurrency: -1 (expected: 0..65536)
          concurrency: 5, hold: 0s                  | hold: 0s (expected: 1ms..366d
          unit: minute, requests_per_unit: 5, hold: 1m | hold: 1m (expected: none without concurrency)
          unit: minute, requests_per_unit: 5, algorithm: concurrency | algorithm: concurrency (expected: concurrency: N
          """)
  void contradiction_isOneError(String limit, String message) {
    Rules.LoadResult loaded = parse(limit);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems()).hasSize(1);
    assertThat(loaded.problems().get(0).message()).contains(message);
  }

  @Test
  void noPermits_areAWarning() {
    assertThat(parse("concurrency: 0").problems())
        .extracting(Problem::message)
        .containsExactly("concurrency: 0 (expected: at least 1; with 0 every request is refused)");
  }

  @Test
  void unlimited_hasNoConcurrency() {
    assertThat(parse("unlimited: true, concurrency: 2").problems())
        .extracting(Problem::message)
        .containsExactly("concurrency: 2 (expected: none beside unlimited, it has no effect)");
  }

  @Test
  void change_isShown() {
    RuleSet before = Objects.requireNonNull(parse("concurrency: 2, hold: 1m").ruleSet());
    RuleSet after = Objects.requireNonNull(parse("concurrency: 3, hold: 90s").ruleSet());
    assertThat(RuleDiff.of(before, after).toString())
        .contains("2 at once, hold 1m")
        .contains("3 at once, hold 1m30s");
  }
}
