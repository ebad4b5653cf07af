package dev.weir.server;

import dev.weir.server.internal.log.Logs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;

/**
 * The end of a server's parts one after the other, each on a thread of its own and with a timeout:
 * a part that hangs, or has lost its threads, must not keep the others from ending. Used by one
 * thread.
 */
final class Ending {
  /** The end of one part; may hang. */
  interface Step {
    void run() throws InterruptedException;
  }

  private final List<String> left = new ArrayList<>();

  /**
   * Ends a part.
   *
   * @param part for the log
   * @param most the longest to wait for it
   */
  void step(String part, Duration most, Step step) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () -> {
              try {
                step.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (Throwable e) {
                Logs.LOG.log(Level.SEVERE, "stop: " + part + " failed", e);
              } finally {
                done.countDown();
              }
            },
            "weir-stop-" + part);
    thread.setDaemon(true);
    try {
      thread.start();
      if (done.await(most.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (OutOfMemoryError e) { // There is no memory for a thread.
      Logs.LOG.log(Level.SEVERE, "stop: " + part + " failed", e);
    }
    left.add(part);
    Logs.LOG.severe(
        "stop: "
            + part
            + " did not end within "
            + most.toMillis()
            + " ms; the server"
            + " stops without it");
  }

  /** Returns the parts that did not end. */
  List<String> left() {
    return left;
  }
}
