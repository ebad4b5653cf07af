package dev.weir.server.internal.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.server.LogCapture;
import dev.weir.server.RunningServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options of rules that have no effect in the store that counts them are said. */
class OptionsByStoreTest {
  private static final String HEADER = "| in `rate_limit` |";

  @TempDir private Path folder;

  private static String file(String options) {
    return "domain: d\ndescriptors:\n  - key: u\n    rate_limit: {unit: hour, requests_per_unit: 3"
        + options
        + "}\n";
  }

  private static String outcome(List<Problem> problems) {
    for (Severity severity : new Severity[] {Severity.ERROR, Severity.WARNING}) {
      if (problems.stream().anyMatch(each -> each.severity() == severity)) {
        return severity == Severity.ERROR ? "error" : "warning";
      }
    }
    return "taken";
  }

  private static String outcome(String options, boolean shared) {
    Rules.LoadResult parsed = Rules.parse("r.yaml", file(options));
    List<Problem> problems = new ArrayList<>(parsed.problems());
    RuleSet rules = parsed.ruleSet();
    if (rules != null && shared) {
      problems.addAll(OptionsByStore.warnings(rules));
    }
    return outcome(problems);
  }

  /** Compares the table of the page: its cells begin with error or warning, or have neither. */
  @Test
  void page_saysWhichOptionsAreTakenByWhichStore() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("../docs/rules.md"));
    int row =
        lines.indexOf(lines.stream().filter(each -> each.startsWith(HEADER)).findFirst().get());
    int rows = 0;
    for (row += 2; lines.get(row).startsWith("|"); row++) {
      String[] cells = lines.get(row).split("\\|", -1);
      String option = ", " + cells[1].strip().replace("`", "");
      List<String> said = new ArrayList<>();
      for (int column = 2; column < 6; column++) {
        String cell = cells[column].strip();
        said.add(
            cell.startsWith("error") ? "error" : cell.startsWith("warning") ? "warning" : "taken");
      }
      assertThat(said)
          .as(option)
          .containsExactly(
              outcome(option + ", store: local", true),
              outcome(option, false),
              outcome(option + ", store: shared", true),
              outcome(option, true));
      rows++;
    }
    assertThat(rows).isGreaterThanOrEqualTo(10);
  }

  @Test
  void optionWithoutEffectInASharedStore_isLoggedAtTheStartAndAtEachReload() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), file(", max_keys: 20"));
    int nobody;
    try (ServerSocket socket = new ServerSocket(0)) {
      nobody = socket.getLocalPort();
    }
    try (LogCapture log = new LogCapture();
        RunningServer running =
            RunningServer.start(
                Map.of("rules", rules.toString(), "store", "redis://127.0.0.1:" + nobody))) {
      assertThat(log.await("rules: warnings"))
          .contains(
              "rules.yaml:3:5: warning: d.u: max_keys: 20 (expected: none where the server's");
      assertThat(running.server.ready()).isTrue();
      Files.writeString(rules, file(", max_keys: 30, when_full: sketch"));
      assertThat(log.await("rules: warnings"))
          .contains("d.u: max_keys: 30 (expected: none", "d.u: when_full: sketch (expected: none");
      Files.writeString(rules, file(", max_keys: 30, store: local"));
      assertThat(log.await("rules: revision 3 in force")).doesNotContain("warning");
      assertThat(log.text()).doesNotContain("rules: warnings");
    }
  }

  @Test
  void optionWithEffect_isNotLogged() {
    assertThat(outcome(", max_keys: 20, when_full: sketch", false)).isEqualTo("taken");
    assertThat(outcome(", max_keys: 20, store: local", true)).isEqualTo("taken");
    assertThat(outcome("", true)).isEqualTo("taken");
  }
}
