package dev.weir.cli.command;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A handler of Ctrl-C and SIGTERM that ends a command's work but not the command: the command then
 * has a minute to show its result so far. It is closed when the result is shown.
 */
public final class CtrlC implements AutoCloseable {
  private static final int SECONDS_TO_END = 60;

  private final Runnable end;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop, "weir-stop");

  /** Makes a handler that interrupts the thread that opens it, which ends a reading. */
  public CtrlC() {
    this(Thread.currentThread()::interrupt);
  }

  /**
   * @param end a task that ends the work early; it must not block
   */
  public CtrlC(Runnable end) {
    this.end = end;
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void stop() {
    end.run();
    try {
      if (!ended.await(SECONDS_TO_END, TimeUnit.SECONDS)) {
        System.err.println("weir: not ended within " + SECONDS_TO_END + " s after it was stopped");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    ended.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending: this is what the hook waited for.
    }
  }
}
