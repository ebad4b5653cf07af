package dev.weir.cli.admin;

import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.config.ConfigException;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that sends requests to the administration interface. */
public abstract class AdminCommand implements Callable<Integer> {
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
      throw new CommandFailure(
          "file: " + IoCauses.named(e) + " (expected: one that can be read or written)", e);
    }
  }

  /** Does the work and returns the exit status. */
  public abstract int run() throws InterruptedException, IOException;

  public final AdminFlags server() {
    return server;
  }

  public final CommandSpec spec() {
    return spec;
  }

  public final boolean json() {
    return json;
  }

  public final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  public final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  public final void show(List<String> lines) {
    lines.forEach(out()::println);
  }

  /** Returns a failure for a flag, as wrong usage. */
  public final ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
