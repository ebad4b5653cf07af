package dev.weir.cli;

import dev.weir.rules.DidYouMean;
import dev.weir.server.settings.StoreUri;
import dev.weir.traffic.TrafficException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code weir} command.
 *
 * <p>Exit status: 0 if the command succeeded, 1 if it found problems or the request was refused, 2
 * for wrong usage, 3 if it could not do its work.
 */
@Command(
    name = "weir",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "Rate limits that hold.%n",
    commandListHeading = "",
    footer = {"", "'weir help COMMAND' describes a command."},
    subcommands = {
      ServeCommand.class,
      CheckCommand.class,
      ClusterCommand.class,
      LintCommand.class,
      ExplainCommand.class,
      InspectCommand.class,
      ReplayCommand.class,
      CompareCommand.class,
      SuggestCommand.class,
      GenerateCommand.class,
      BenchCommand.class,
      RulesCommand.class,
      LimitsCommand.class,
      TokensCommand.class,
      AuditCommand.class,
      DashboardCommand.class,
      ConfigCommand.class,
      CompletionCommand.class,
      ManCommand.class,
      VersionCommand.class,
      HelpCommand.class
    })
public final class Main implements Runnable {
  /** The command found problems, or the request was refused. */
  static final int FOUND = 1;

  /** The command was used wrongly. */
  static final int USAGE = 2;

  /** The command could not do its work. */
  static final int FAILED = 3;

  @Spec private CommandSpec spec;

  /** Runs the command and ends the process with its exit status. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    CommandLine main = new CommandLine(new Main());
    ServeCommand.addSettings(Objects.requireNonNull(main.getSubcommands().get("serve")));
    CommandGroups.showIn(main);
    return main.setUsageHelpAutoWidth(true)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExpandAtFiles(false) // A customer may be called @alice.
        .setExecutionExceptionHandler(
            (exception, line, result) -> {
              if (exception instanceof CommandFailure failure) {
                line.getErr().println("weir: " + failure.getMessage());
                return failure.status();
              }
              throw exception;
            })
        .setParameterExceptionHandler(Main::wrongUsage);
  }

  /** Shows every problem with the flags or the input, one per line. */
  static int refused(TrafficException exception, PrintWriter err) {
    exception.problems().forEach(problem -> err.println("weir: " + problem));
    return USAGE;
  }

  /** Shows the error first, then what was probably meant, and where the flags are described. */
  private static int wrongUsage(ParameterException exception, String[] arguments) {
    CommandLine line = exception.getCommandLine();
    PrintWriter err = line.getErr();
    err.println(
        "weir: " + StoreUri.hidden(String.valueOf(exception.getMessage())) + meant(exception));
    if (arguments.length == 0) {
      err.println();
      line.usage(err);
    } else {
      err.println("See '" + line.getCommandSpec().qualifiedName() + " --help'.");
    }
    return USAGE;
  }

  /** Returns what an unknown flag or command was probably meant to be. */
  private static String meant(ParameterException exception) {
    if (!(exception instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return "";
    }
    CommandSpec command = exception.getCommandLine().getCommandSpec();
    List<String> known = new ArrayList<>(command.optionsMap().keySet());
    known.addAll(command.subcommands().keySet());
    return DidYouMean.of(unmatched.getUnmatched().get(0), known);
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "command: missing (expected: one of the commands below)");
  }
}
