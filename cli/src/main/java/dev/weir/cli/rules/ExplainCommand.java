package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.Text;
import dev.weir.rules.Entry;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    description = {
      "Shows which rule decides a descriptor, which others were considered, and why they"
          + " do not apply.",
      "",
      "Exit status: 0, also when no rule matches; 1 if the rules have errors; 2 if they do not have"
          + " the domain.",
      ""
    })
public final class ExplainCommand implements Callable<Integer> {
  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE|DIR",
      description = "The rules. May be given several times.")
  private List<Path> rules = List.of();

  @Option(names = "--domain", required = true, description = "The request's domain.")
  private String domain = "";

  @Option(
      names = "--descriptor",
      required = true,
      paramLabel = "k=v,k2=v2",
      description = "A descriptor's entries, in order. May be given several times.")
  private List<String> descriptors = List.of();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    List<List<Entry>> asked = descriptors.stream().map(this::entries).toList();
    Rules.LoadResult loaded = Rules.load(rules);
    RuleSet set = loaded.ruleSet();
    if (set == null) {
      for (Problem problem : loaded.problems()) {
        spec.commandLine().getErr().println(problem.shown());
      }
      return Main.FOUND;
    }
    if (!set.hasDomain(domain)) {
      throw new CommandFailure(Main.USAGE, "--" + set.unknownDomain(domain));
    }
    for (List<Entry> entries : asked) {
      spec.commandLine().getOut().println(set.explain(domain, entries));
    }
    return 0;
  }

  private List<Entry> entries(String descriptor) {
    try {
      return Text.entries(descriptor);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }
}
