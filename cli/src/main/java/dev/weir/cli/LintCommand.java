package dev.weir.cli;

import dev.weir.rules.Problem;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "lint",
    mixinStandardHelpOptions = true,
    description = {
      "Checks rule files and shows every problem with file, line and column.",
      "",
      "Exit status: 0 without errors (warnings do not count), 1 with errors.",
      ""
    })
final class LintCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "FILE",
      arity = "1..*",
      description = "Rule files, or folders of *.yaml and *.yml files; checked as one set.")
  private List<Path> files = List.of();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    Rules.Loaded loaded = Rules.load(files);
    for (Problem problem : loaded.problems()) {
      spec.commandLine().getOut().println(problem);
    }
    long errors =
        loaded.problems().stream().filter(each -> each.severity() == Severity.ERROR).count();
    long warnings = loaded.problems().size() - errors;
    int rules = loaded.ruleSet() == null ? 0 : loaded.ruleSet().rules().size();
    spec.commandLine()
        .getOut()
        .println(
            errors > 0
                ? Text.count(errors, "error") + ", " + Text.count(warnings, "warning")
                : Text.count(rules, "rule") + ", " + Text.count(warnings, "warning"));
    return errors > 0 ? Main.FOUND : 0;
  }
}
