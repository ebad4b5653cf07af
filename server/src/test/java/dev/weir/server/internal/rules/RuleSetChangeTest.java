package dev.weir.server.internal.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.LogCapture;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RuleSetChangeTest {
  private LogCapture log;

  @BeforeEach
  void listen() {
    log = new LogCapture();
  }

  @AfterEach
  void stopListening() {
    log.close();
  }

  private static RuleSet rules(String descriptors) {
    String yaml = "domain: d\ndescriptors:\n" + descriptors;
    return Objects.requireNonNull(Rules.parse("rules.yaml", yaml).ruleSet());
  }

  private static String rule(String key, int limit) {
    return "  - {key: %s, rate_limit: {unit: minute, requests_per_unit: %d}}\n"
        .formatted(key, limit);
  }

  @Test
  void fewDifferences_areInTheLine() throws Exception {
    RuleSet before = rules(rule("a", 1) + rule("b", 2));
    RuleSet after = rules(rule("a", 5) + rule("c", 3));
    RuleSetChange.of(before, after).log(2);
    assertThat(log.next())
        .startsWith("rules: revision 2 in force: 1 added, 1 removed, 1 changed, 2 in all (")
        .contains("d.a: ", "d.b: removed", "d.c: added")
        .doesNotContain("\n");
  }

  @Test
  void manyDifferences_areOneLineOfNumbers() throws Exception {
    StringBuilder before = new StringBuilder();
    StringBuilder after = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      before.append(rule("k" + i, 1));
      after.append(rule("k" + i, i < 30 ? 2 : 1));
    }
    RuleSetChange.of(rules(before.toString()), rules(after.toString())).log(9);
    assertThat(log.next())
        .isEqualTo("rules: revision 9 in force: 0 added, 0 removed, 30 changed, 40 in all");
  }

  @Test
  void noDifference_saysSo() throws Exception {
    RuleSet rules = rules(rule("a", 1));
    RuleSetChange.of(rules, rules(rule("a", 1))).log(3);
    assertThat(log.next()).isEqualTo("rules: revision 3 in force: no rule has changed");
  }
}
