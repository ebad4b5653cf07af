package dev.weir.cli.traffic;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.CtrlC;
import dev.weir.internal.IoCauses;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * A command that reads recorded traffic. Stopped early, it shows the result of what it has read.
 */
abstract class TrafficCommand implements Callable<Integer> {
  @Mixin private final TrafficFlags flags = new TrafficFlags();

  @Spec private CommandSpec spec;

  /** Reads the traffic and shows the result. Returns the warnings, which are shown after it. */
  abstract List<String> run() throws IOException, TrafficException;

  @Override
  public final Integer call() {
    CtrlC ctrlC = new CtrlC();
    try {
      List<String> warnings = run();
      warnings.forEach(warning -> err().println("weir: warning: " + warning));
      return flags.strict() && !warnings.isEmpty() ? Main.FOUND : 0;
    } catch (TrafficException e) {
      return Main.refused(e, err());
    } catch (ClosedByInterruptException e) {
      throw new CommandFailure("stopped before anything was read", e);
    } catch (IOException e) {
      throw new CommandFailure(IoCauses.named(e), e);
    } catch (OutOfMemoryError e) {
      throw new CommandFailure(
          "memory: "
              + (Runtime.getRuntime().maxMemory() >> 20)
              + " MiB are not enough (expected: a larger heap, for example WEIR_JAVA_OPTS=-Xmx4g)",
          e);
    } finally {
      ctrlC.close();
    }
  }

  /** Shows the warnings, and returns the error for an input of which no record could be read. */
  final TrafficException nothingRead(List<String> warnings) {
    warnings.forEach(warning -> err().println("weir: warning: " + warning));
    return new TrafficException("input: no record can be read (expected: one at least)");
  }

  final TrafficFlags flags() {
    return flags;
  }

  final CommandSpec spec() {
    return spec;
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** Shows the command's result. */
  final void show(String text) {
    PrintWriter out = spec.commandLine().getOut();
    out.print(text);
    out.flush();
  }
}
