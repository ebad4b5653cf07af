package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.internal.IoCauses;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "lint",
    mixinStandardHelpOptions = true,
    description = {
      "Checks rule files and shows every problem with file, line and column.",
      "",
      "Exit status: 0 without errors (warnings count with --strict only), 1 with errors.",
      ""
    })
public final class LintCommand implements Callable<Integer> {
  private static final Path STDIN = Path.of("-");

  /** The most bytes read of a file: more than a file may have, so that a larger one is refused. */
  private static final int MOST_BYTES = (1 << 20) + 1;

  @Parameters(
      paramLabel = "FILE",
      arity = "1..*",
      description =
          "Rule files, or folders of *.yaml and *.yml files; checked as one set. - alone is the"
              + " standard input.")
  private List<Path> files = List.of();

  @Option(names = "--strict", description = "Warnings count as errors.")
  private boolean strict;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description =
          "text, json, sarif (2.1.0, for code hosts) or github (annotations of a workflow)."
              + " Default: ${DEFAULT-VALUE}.")
  private LintFormat format = LintFormat.TEXT;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    Rules.LoadResult loaded = load();
    int rules = loaded.ruleSet() == null ? 0 : loaded.ruleSet().rules().size();
    LintFormat.Found found = new LintFormat.Found(rules, loaded.problems());
    format.write(found, spec.commandLine().getOut());
    boolean failed = strict ? !loaded.problems().isEmpty() : found.count(Severity.ERROR) > 0;
    return failed ? Main.FOUND : 0;
  }

  private Rules.LoadResult load() {
    if (!files.contains(STDIN)) {
      return Rules.load(files);
    }
    if (files.size() > 1) {
      throw new ParameterException(
          spec.commandLine(), "FILE: - beside others (expected: - alone, or files and folders)");
    }
    try {
      return Rules.parse("stdin", System.in.readNBytes(MOST_BYTES));
    } catch (IOException e) {
      throw new CommandFailure("standard input: " + IoCauses.of(e), e);
    }
  }
}
