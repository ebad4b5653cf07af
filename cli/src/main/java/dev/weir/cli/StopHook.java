package dev.weir.cli;

import dev.weir.server.WeirServer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * What a signal to stop runs: it drains the server and ends the process, in a bounded time whatever
 * hangs.
 */
final class StopHook extends Thread {
  /*
   * A process that runs out of memory may not even have enough for a thread when it is told to stop.
   * So what drains is a thread that waits from the start, and this one does nothing but wait for it
   * and end the process.
   */

  /** What the server's own bound is given on top, to be the first to say what hangs. */
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
  static StopHook of(WeirServer server) {
    return of(
        server::drain,
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

  /** A stop that was asked for is no failure: 0, unless it was not done in time. */
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
