package dev.weir.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The steps of a close. All of them run, whatever fails; {@link #end} throws the first failure. */
final class ClosingSteps {
  /** One step. */
  interface Step {
    void run() throws IOException, InterruptedException;
  }

  private @Nullable Throwable first;

  /** Runs a step, and keeps its failure for the end. */
  void run(Step step) {
    try {
      step.run();
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      Throwable before = first;
      if (before == null) {
        first = e;
      } else if (before != e) {
        before.addSuppressed(e);
      }
    }
  }

  /** Throws the first failure of a step, if there was one. */
  void end() throws IOException, InterruptedException {
    Throwable failure = first;
    if (failure instanceof IOException e) {
      throw e;
    } else if (failure instanceof InterruptedException e) {
      throw e;
    } else if (failure instanceof RuntimeException e) {
      throw e;
    } else if (failure instanceof Error e) {
      throw e;
    }
  }
}
