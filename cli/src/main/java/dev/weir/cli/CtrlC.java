package dev.weir.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets Ctrl-C, or SIGTERM, end a command's reading and not the command: it is interrupted, and has
 * a minute to show what it has read. To be opened by the thread that reads, and closed when all is
 * shown.
 */
final class CtrlC implements AutoCloseable {
  private static final int SECONDS_TO_END = 60;

  private final Thread reader = Thread.currentThread();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop, "weir-stop");

  CtrlC() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void stop() {
    reader.interrupt();
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
