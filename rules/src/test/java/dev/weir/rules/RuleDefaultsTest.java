package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.rules.internal.parse.FolderEvents;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules that leave a setting to the operator. */
class RuleDefaultsTest {
  private static final RuleDefaults QUARTER = new RuleDefaults(FailureMode.LOCAL, 0.25);
  private static final RuleDefaults ALLOW = new RuleDefaults(FailureMode.ALLOW, 1);

  private static RuleSet rules(String limit, RuleDefaults defaults) {
    String text = "domain: d\ndescriptors:\n  - key: a\n    rate_limit: " + limit;
    Rules.LoadResult loaded = Rules.parse("r.yaml", text, defaults);
    assertThat(loaded.problems()).isEmpty();
    return Objects.requireNonNull(loaded.ruleSet());
  }

  private static String onFailure(String limit, RuleDefaults defaults) {
    Policy policy = Objects.requireNonNull(rules(limit, defaults).rules().get(0).policy());
    return policy.sharing().onFailure() + " " + policy.sharing().localShare();
  }

  @Test
  void silentRule_isAsTheDefaultsSay_andAnotherAsItSays() {
    String silent = "{unit: day, requests_per_unit: 3}";
    String says = "{unit: day, requests_per_unit: 3, on_failure: %s}";
    String here = "{unit: day, requests_per_unit: 3, store: local}";
    assertThat(onFailure(silent, RuleDefaults.DENY)).isEqualTo("DENY 1.0");
    assertThat(onFailure(silent, ALLOW)).isEqualTo("ALLOW 1.0");
    assertThat(onFailure(silent, QUARTER)).isEqualTo("LOCAL 0.25");
    assertThat(onFailure(says.formatted("deny"), QUARTER)).isEqualTo("DENY 1.0");
    assertThat(onFailure(says.formatted("allow"), QUARTER)).isEqualTo("ALLOW 1.0");
    assertThat(onFailure(says.formatted("local, local_share: 50%"), QUARTER))
        .isEqualTo("LOCAL 0.5");
    assertThat(onFailure(says.formatted("local, local_share: 50%"), ALLOW)).isEqualTo("LOCAL 0.5");
    assertThat(onFailure(here, ALLOW)).isEqualTo("ALLOW 1.0");
    assertThat(onFailure(here, QUARTER)).as("it has no other store").isEqualTo("DENY 1.0");
    assertThat(rules(silent, QUARTER).defaults()).isEqualTo(QUARTER);
  }

  @Test
  void whatIsWrong_isSoWhateverTheDefaultsAre() {
    for (RuleDefaults defaults : List.of(RuleDefaults.DENY, ALLOW, QUARTER)) {
      String text =
          """
          domain: d
          descriptors:
            - key: a
              rate_limit: {unit: day, requests_per_unit: 3, local_share: 50%}
            - key: b
              rate_limit: {unit: day, requests_per_unit: 3, on_failure: local}
            - key: c
              rate_limit: {unit: day, requests_per_unit: 3, on_failure: local, store: local}
          """;
      assertThat(Rules.parse("r.yaml", text, defaults).problems())
          .extracting(Problem::toString)
          .hasSize(3)
          .isEqualTo(
              Rules.parse("r.yaml", text).problems().stream().map(Problem::toString).toList());
    }
  }

  @Test
  void watchedRules_keepTheirDefaults(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("r.yaml");
    String text =
        "domain: d\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 3}}]";
    Files.writeString(file, text);
    RuleSet first = Objects.requireNonNull(Rules.load(List.of(file), ALLOW).ruleSet());
    List<Rules.LoadResult> seen = new ArrayList<>();
    try (RuleWatcher watcher =
        new RuleWatcher(List.of(file), first, seen::add, e -> {}, FolderEvents::open)) {
      Files.writeString(file, text.replace("3", "4"));
      assertThat(watcher.poll()).isTrue();
      assertThat(watcher.poll()).isFalse();
    }
    assertThat(seen).hasSize(1);
    RuleSet changed = Objects.requireNonNull(seen.get(0).ruleSet());
    Policy policy = Objects.requireNonNull(changed.rules().get(0).policy());
    assertThat(policy.sharing().onFailure()).isEqualTo(FailureMode.ALLOW);
    assertThat(changed.defaults()).isEqualTo(ALLOW);
  }

  @Test
  void share_isChecked() {
    for (double share : new double[] {0, -1, 1.01, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new RuleDefaults(FailureMode.LOCAL, share))
          .withMessageStartingWith("localShare: " + share);
    }
  }
}
