package dev.weir.cli;

import dev.weir.config.ConfigException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that asks the administration interface. */
abstract class AdminCommand implements Callable<Integer> {
  @Mixin private final AdminFlags server = new AdminFlags();

  @Option(names = "--json", description = "Show the result as JSON.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public final Integer call() throws InterruptedException {
    try {
      return run();
    } catch (ConfigException e) {
      throw StoreFlags.failure(e);
    } catch (IOException e) {
      throw new CommandFailure("file: " + e.getMessage() + " (expected: to be read or written)", e);
    }
  }

  /** Does the work and returns the exit status. */
  abstract int run() throws InterruptedException, IOException;

  final AdminFlags server() {
    return server;
  }

  final CommandSpec spec() {
    return spec;
  }

  final boolean json() {
    return json;
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  final void show(List<String> lines) {
    lines.forEach(out()::println);
  }

  /** Returns a failure for a flag, which is wrong usage. */
  final ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
