package dev.weir.cli;

import dev.weir.replay.ReplayException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that reads recorded traffic, and shows what it has read also when it is stopped. */
abstract class TrafficCommand implements Callable<Integer> {
  @Mixin private final TrafficFlags flags = new TrafficFlags();

  @Spec private CommandSpec spec;

  /** Does all of it. */
  abstract void run() throws IOException, ReplayException;

  @Override
  public final Integer call() {
    CtrlC ctrlC = new CtrlC();
    try {
      run();
      return 0;
    } catch (ReplayException e) {
      return Main.refused(e, err());
    } catch (ClosedByInterruptException e) {
      throw new Failure("stopped before anything was read", e);
    } catch (IOException e) {
      throw new Failure(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    } catch (OutOfMemoryError e) {
      throw new Failure(
          "memory: "
              + (Runtime.getRuntime().maxMemory() >> 20)
              + " MiB (expected: more; as in WEIR_JAVA_OPTS=-Xmx4g)",
          e);
    } finally {
      ctrlC.close();
    }
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
