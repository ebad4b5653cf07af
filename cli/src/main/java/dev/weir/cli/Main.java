package dev.weir.cli;

import dev.weir.cli.admin.AuditCommand;
import dev.weir.cli.admin.DashboardCommand;
import dev.weir.cli.admin.TokensCommand;
import dev.weir.cli.cluster.ClusterCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.CommandGroups;
import dev.weir.cli.command.CompletionCommand;
import dev.weir.cli.command.ManCommand;
import dev.weir.cli.command.StandardOutput;
import dev.weir.cli.command.UsageProblems;
import dev.weir.cli.command.Version;
import dev.weir.cli.command.VersionCommand;
import dev.weir.cli.imports.ImportCommand;
import dev.weir.cli.limits.LimitsCommand;
import dev.weir.cli.rules.ConfigCommand;
import dev.weir.cli.rules.ExplainCommand;
import dev.weir.cli.rules.LintCommand;
import dev.weir.cli.rules.RulesCommand;
import dev.weir.cli.traffic.CompareCommand;
import dev.weir.cli.traffic.GenerateCommand;
import dev.weir.cli.traffic.InspectCommand;
import dev.weir.cli.traffic.ReplayCommand;
import dev.weir.cli.traffic.SuggestCommand;
import dev.weir.server.ServerOptions;
import dev.weir.traffic.TrafficException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * The {@code weir} command.
 *
 * <p>Exit status: 0 if the command succeeded, 1 if it found problems or the request was refused, 2
 * for wrong usage, 3 if it could not do its work, 4 if a server stopped but not whole.
 */
@Command(
    name = "weir",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "Rate limits that hold.%n",
    commandListHeading = "",
    footer = {"", "'weir help COMMAND' describes a command."})
public final class Main implements Runnable {
  /** The exit status if the command found problems, or the request was refused. */
  public static final int FOUND = 1;

  /** The exit status if the command was used wrongly. */
  public static final int USAGE = 2;

  /** The exit status if the command could not do its work. */
  public static final int FAILED = 3;

  /** The exit status if a server stopped, but a part did not end or counts were not saved. */
  static final int NOT_WHOLE = 4;

  /** All commands, in the order in which they are listed. */
  private static final List<Class<?>> COMMANDS =
      List.of(
          ServeCommand.class,
          CheckCommand.class,
          ClusterCommand.class,
          LintCommand.class,
          ExplainCommand.class,
          ImportCommand.class,
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
          HelpCommand.class);

  /** The commands that need all the others, because they describe them. */
  private static final Set<Class<?>> OF_ALL =
      Set.of(CompletionCommand.class, ManCommand.class, HelpCommand.class);

  /**
   * The property for the number of threads in Java's common pool; to be set before the pool is
   * first used.
   */
  static final String COMMON_POOL = "java.util.concurrent.ForkJoinPool.common.parallelism";

  private static final int COMMON_THREADS = 2;

  /**
   * Types of which there is no flag: picocli would load them all, at each start, to be able to read
   * them.
   */
  private static final String NO_FLAGS = "java.sql.*,java.time.*";

  /*
   * Why are these classes, and not lambdas? Java can keep picocli's main class between runs only if
   * no lambda here refers to it, because the class was compiled for a very old Java.
   */

  /** A handler of failures, which shows in one line why a command could not do its work. */
  private static final class Failures implements IExecutionExceptionHandler {
    @Override
    public int handleExecutionException(Exception exception, CommandLine line, ParseResult result)
        throws Exception {
      if (exception instanceof CommandFailure failure) {
        line.getErr().println("weir: " + failure.getMessage());
        return failure.status();
      }
      throw exception;
    }
  }

  /** A handler of wrong usage, which shows the problem with the arguments. */
  private static final class WrongUsage implements IParameterExceptionHandler {
    @Override
    public int handleParseException(ParameterException exception, String[] arguments) {
      return wrongUsage(exception, arguments);
    }
  }

  @Spec private CommandSpec spec;

  /** Runs the command and ends the process with its exit status. */
  public static void main(String[] given) {
    shareThreads(Runtime.getRuntime().availableProcessors());
    System.setProperty("picocli.converters.excludes", NO_FLAGS);
    System.exit(run(given, StandardOutput.ofProcess(), null));
  }

  /**
   * Runs the command and returns its exit status.
   *
   * @param err the output for errors; null for that of the process
   */
  static int run(String[] given, StandardOutput out, @Nullable PrintWriter err) {
    String[] arguments = named(given);
    PrintWriter writer = out.writer();
    CommandLine line = commandLine(arguments).setOut(writer);
    if (err != null) {
      line.setErr(err);
    }
    int status = line.execute(arguments);
    writer.flush();
    return out.ended(line.getErr(), status);
  }

  /**
   * Returns the arguments under the name by which the command is listed: {@code weir demo} and
   * {@code weir demo cluster} are {@code weir cluster demo}.
   */
  static String[] named(String[] given) {
    if (given.length == 0 || !given[0].equals("demo")) {
      return given;
    }
    boolean both = given.length > 1 && given[1].equals("cluster");
    List<String> arguments = new ArrayList<>(List.of("cluster", "demo"));
    arguments.addAll(List.of(given).subList(both ? 2 : 1, given.length));
    return arguments.toArray(new String[0]);
  }

  /**
   * Sets the common pool to two threads on two processors or one. There, Java's common pool would
   * have one thread, and then {@code CompletableFuture} starts a new thread for each step that
   * names no executor: one or two for each entry of a cluster's log. With two threads in the pool
   * it uses them.
   */
  static void shareThreads(int processors) {
    if (processors <= COMMON_THREADS && System.getProperty(COMMON_POOL) == null) {
      System.setProperty(COMMON_POOL, Integer.toString(COMMON_THREADS));
    }
  }

  /** Returns the command with all of its subcommands. */
  static CommandLine commandLine() {
    return commandLine(COMMANDS);
  }

  /**
   * Returns the commands that the arguments need. Reading the flags of all commands would take most
   * of a short command's start. So if the arguments name a command that does not depend on the
   * others, only that one is read.
   */
  static CommandLine commandLine(String[] arguments) {
    String name = arguments.length == 0 ? "" : arguments[0];
    for (Class<?> each : COMMANDS) {
      if (name(each).equals(name) && !OF_ALL.contains(each)) {
        return commandLine(List.of(each));
      }
    }
    return commandLine();
  }

  /** Returns a command's name, derived from its class: reading an annotation takes longer. */
  private static String name(Class<?> command) {
    return command.getSimpleName().replace("Command", "").toLowerCase(Locale.ROOT);
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    CommandLine main = new CommandLine(new Main());
    for (Class<?> each : commands) {
      main.addSubcommand(each);
    }
    CommandLine serve = main.getSubcommands().get("serve");
    if (serve != null) {
      ServeCommand.addSettings(serve);
    }
    CommandGroups.showIn(main);
    return main.setUsageHelpAutoWidth(true)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExpandAtFiles(false) // A customer may be called @alice.
        .setExecutionExceptionHandler(new Failures())
        .setParameterExceptionHandler(new WrongUsage());
  }

  /** Shows every problem with the flags or the input, one per line. */
  public static int refused(TrafficException exception, PrintWriter err) {
    exception.problems().forEach(problem -> err.println("weir: " + problem));
    return USAGE;
  }

  /** Shows the problems first, with a likely correction, and then where the flags are described. */
  private static int wrongUsage(ParameterException exception, String[] arguments) {
    CommandLine line = exception.getCommandLine();
    PrintWriter err = line.getErr();
    for (String problem : UsageProblems.of(exception, arguments)) {
      err.println("weir: " + ServerOptions.withoutPasswords(problem));
    }
    if (arguments.length == 0) {
      err.println();
      line.usage(err);
    } else {
      err.println("See '" + line.getCommandSpec().qualifiedName() + " --help'.");
    }
    return USAGE;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "command: missing (expected: one of the commands below)");
  }
}
