package dev.weir.cli;

import dev.weir.internal.DaemonThreads;
import dev.weir.server.WeirServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A hook that runs on a signal to stop: it drains the server and ends the process, within a bounded
 * time even if a part of the server hangs. It is installed before the server starts, so that a
 * server that is ready is drained, however soon the signal follows.
 */
final class StopHook extends Thread {
  /*
   * A process that runs out of memory may not be able to start a thread when the signal arrives. So
   * the draining thread is started in advance and waits; the hook only releases it, waits for it,
   * and ends the process. The supervisor is notified by a thread of its own, also started in
   * advance: a notification that fails or hangs must not keep the server from draining. The hook
   * itself waits for nothing without a bound, not even for standard error. A second signal changes
   * nothing.
   */

  /**
   * The time added to the server's own bound, so that the server can first name the part that
   * hangs.
   */
  static final Duration SPARE = Duration.ofSeconds(1);

  /** The time to write the line about a server that hangs: standard error may be blocked. */
  private static final Duration LAST_LINE = Duration.ofMillis(200);

  /** The status of a process that SIGTERM ended before it did anything: 128 + 15. */
  static final int STOPPED = 143;

  /** The time that a start has until there is something to drain. */
  private static final Duration START = Duration.ofSeconds(2);

  private final Duration start;
  private final IntConsumer halt;
  private final CompletableFuture<Work> work = new CompletableFuture<>();
  private final CountDownLatch begin = new CountDownLatch(1);
  private final CountDownLatch drained = new CountDownLatch(1);
  private final Thread drainer;
  private volatile boolean done;
  private volatile @Nullable Thread notifier;

  private StopHook(Duration start, IntConsumer halt) {
    super("weir-stop");
    this.start = start;
    this.halt = halt;
    drainer = DaemonThreads.create("weir-drain", this::awaitAndDrain);
    drainer.start();
  }

  /** A task that drains; it may hang. */
  interface Drain {
    void run() throws InterruptedException;
  }

  /**
   * A task that drains, and its bound.
   *
   * @param longest returns the longest time for draining, when it begins
   * @param whole returns whether everything has ended as it should, when it has drained
   */
  private record Work(Drain drain, Supplier<Duration> longest, BooleanSupplier whole) {}

  /** Returns a hook for a server of this process, installed. */
  static StopHook install() {
    StopHook hook = of(START, status -> Runtime.getRuntime().halt(status));
    Runtime.getRuntime().addShutdownHook(hook);
    return hook;
  }

  /**
   * Returns a hook, not yet installed.
   *
   * @param start the longest time that an unfinished start may go on after a signal
   * @param halt receives the exit status
   */
  static StopHook of(Duration start, IntConsumer halt) {
    return new StopHook(start, halt);
  }

  /** Sets the server that a signal drains from now on. */
  void setWork(WeirServer server, Supervisor supervisor) {
    setNotice(supervisor::stopping);
    setWork(server::drain, () -> server.longestDrain().plus(SPARE), () -> server.left().isEmpty());
  }

  /** Sets a task that a signal runs beside the drain; it may hang or fail. To be called once. */
  void setNotice(Runnable notice) {
    Thread thread =
        DaemonThreads.create(
            "weir-notify",
            () -> {
              try {
                begin.await();
                notice.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    thread.start();
    notifier = thread;
  }

  /**
   * Sets the task that a signal runs from now on.
   *
   * @param longest returns the longest time for draining, when it begins
   */
  void setWork(Drain drain, Supplier<Duration> longest) {
    setWork(drain, longest, () -> true);
  }

  /**
   * Sets the task that a signal runs from now on.
   *
   * @param longest returns the longest time for draining, when it begins
   * @param whole returns whether everything has ended as it should, when it has drained
   */
  void setWork(Drain drain, Supplier<Duration> longest, BooleanSupplier whole) {
    work.complete(new Work(drain, longest, whole));
  }

  /** Uninstalls the hook: there is nothing to drain, and the process ends with another status. */
  void uninstall() {
    try {
      Runtime.getRuntime().removeShutdownHook(this);
      drainer.interrupt();
      Thread notice = notifier;
      if (notice != null) {
        notice.interrupt();
      }
    } catch (IllegalStateException e) {
      // The process is ending by a signal, with this hook.
    }
  }

  private void awaitAndDrain() {
    try {
      begin.await();
      work.join().drain().run();
      done = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      drained.countDown();
    }
  }

  private int ended() {
    return work.join().whole().getAsBoolean() ? 0 : Main.NOT_WHOLE;
  }

  /** Prints a line on a thread of its own: a full pipe must not keep the process. */
  private static void print(String line) throws InterruptedException {
    Thread printer = DaemonThreads.create("weir-stop-line", () -> System.err.println(line));
    printer.start();
    printer.join(LAST_LINE.toMillis());
  }

  /**
   * Ends with status 0; 4 if a part of the server did not end or counts were not saved; 3 if the
   * server did not stop in time or failed to drain; 143 if it had not started.
   */
  @Override
  public void run() {
    int status = Main.FAILED;
    try {
      begin.countDown();
      Duration longest = work.get(start.toMillis(), TimeUnit.MILLISECONDS).longest().get();
      if (drained.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
        status = done ? ended() : Main.FAILED;
      } else {
        print("weir: not stopped within " + longest.toSeconds() + " s, ended");
      }
    } catch (TimeoutException e) {
      status = STOPPED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } finally {
      halt.accept(status);
    }
  }
}
