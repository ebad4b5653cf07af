package dev.weir.cli;

import dev.weir.replay.ReplayException;
import dev.weir.server.StoreUri;
import java.io.PrintWriter;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The {@code weir} command.
 *
 * <p>Exit status: 0 when the command did what it was asked, 1 when it found problems or a denial, 2
 * for wrong usage, 3 when it could not do its work.
 */
@Command(
    name = "weir",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "Rate limits that hold.%n",
    commandListHeading = "%nCommands:%n",
    footer = {"", "'weir help COMMAND' tells more about a command."},
    subcommands = {
      ServeCommand.class,
      CheckCommand.class,
      LintCommand.class,
      ExplainCommand.class,
      ReplayCommand.class,
      CompareCommand.class,
      SuggestCommand.class,
      GenerateCommand.class,
      BenchCommand.class,
      HelpCommand.class
    })
public final class Main implements Runnable {
  /** The command found problems, or a denial. */
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
    return main.setUsageHelpAutoWidth(true)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (exception, line, result) -> {
              if (exception instanceof Failure) {
                line.getErr().println("weir: " + exception.getMessage());
                return FAILED;
              }
              throw exception;
            })
        .setParameterExceptionHandler(Main::wrongUsage);
  }

  /** Shows all that is wrong with what was asked, a line each. */
  static int refused(ReplayException exception, PrintWriter err) {
    exception.problems().forEach(problem -> err.println("weir: " + problem));
    return USAGE;
  }

  private static int wrongUsage(ParameterException exception, String[] arguments) {
    CommandLine line = exception.getCommandLine();
    PrintWriter err = line.getErr();
    err.println("weir: " + StoreUri.hidden(String.valueOf(exception.getMessage())));
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(exception, err)) {
      err.println();
      line.usage(err);
    }
    return USAGE;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "command: missing (expected: one of those below)");
  }
}
