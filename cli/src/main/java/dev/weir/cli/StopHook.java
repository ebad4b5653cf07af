package dev.weir.cli;

import dev.weir.server.WeirServer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * Runs on a signal to stop: drains the server and ends the process, within a bounded time even if a
 * part of the server hangs.
 */
final class StopHook extends Thread {
  /*
   * A process that runs out of memory may not be able to start a thread when the signal arrives. So
   * the draining thread is started in advance and waits; the hook only releases it, waits for it,
   * and ends the process.
   */

  /** Added to the server's own bound, so that the server can name the part that hangs first. */
  static final Duration SPARE = Duration.ofSeconds(1);

  private final Duration longest;
  private final IntConsumer halt;
  private final CountDownLatch begin = new CountDownLatch(1);
  private final CountDownLatch drained = new CountDownLatch(1);
  private volatile boolean done;

  private StopHook(Drain drain, Duration longest, IntConsumer halt) {
    super("weir-stop");
    this.longest = longest;
    this.halt = halt;
    Thread drainer = new Thread(() -> drain(drain), "weir-drain");
    drainer.setDaemon(true);
    drainer.start();
  }

  /** Drains; may hang. */
  interface Drain {
    void run() throws InterruptedException;
  }

  /** Returns a hook, not yet installed, for a server of this process. */
  static StopHook of(WeirServer server, Supervisor supervisor) {
    return of(
        () -> {
          supervisor.stopping();
          server.drain();
        },
        server.longestDrain().plus(SPARE),
        status -> Runtime.getRuntime().halt(status));
  }

  /**
   * Returns a hook.
   *
   * @param longest how long draining may take
   * @param halt is given the status to end with
   */
  static StopHook of(Drain drain, Duration longest, IntConsumer halt) {
    return new StopHook(drain, longest, halt);
  }

  private void drain(Drain drain) {
    try {
      begin.await();
      drain.run();
      done = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      drained.countDown();
    }
  }

  /** Ends with status 0, or 3 if the server did not stop in time. */
  @Override
  public void run() {
    int status = Main.FAILED;
    try {
      begin.countDown();
      if (drained.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
        status = done ? 0 : Main.FAILED;
      } else {
        System.err.println("weir: not stopped within " + longest.toSeconds() + " s, ended");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      halt.accept(status);
    }
  }
}
