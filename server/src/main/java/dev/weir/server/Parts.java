package dev.weir.server;

import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.log.Logs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.logging.Level;

/**
 * The parts of a server, in the order in which they started. They stop in reverse, each on a thread
 * of its own and within its deadline: a part that hangs, or has lost its threads, must not keep the
 * others from stopping. They stop once: of a drain and a start that fails at the same time, the
 * first one stops them. Parts are added by one thread.
 */
final class Parts {
  /** Stops one part; may hang. */
  interface Stop {
    void run() throws InterruptedException;
  }

  /**
   * One part.
   *
   * @param name for the log
   * @param deadline the longest time that its stop may take
   * @param abandon its stop when the server has not started
   */
  private record Part(String name, Supplier<Duration> deadline, Stop stop, Runnable abandon) {}

  private final List<Part> parts = new ArrayList<>();
  private final List<String> left = new ArrayList<>();
  private final AtomicBoolean stopping = new AtomicBoolean();

  /** Adds a part that has started, and whose stop does not wait. */
  void add(String name, Duration deadline, Runnable stop) {
    add(name, () -> deadline, stop::run, stop);
  }

  /**
   * Adds a part that has started.
   *
   * @param name for the log
   * @param deadline the longest time that its stop may take, read when it stops
   * @param stop stops it
   * @param abandon stops it when a later part does not start; must not wait
   */
  void add(String name, Supplier<Duration> deadline, Stop stop, Runnable abandon) {
    parts.add(new Part(name, deadline, stop, abandon));
  }

  /** Replaces the stop of a part that another one has taken over and stops with itself. */
  void handOver(String name, Runnable stop) {
    parts.replaceAll(
        part -> part.name().equals(name) ? new Part(name, part.deadline(), stop::run, stop) : part);
  }

  /** Returns the longest time that {@link #stop} takes. */
  Duration longest() {
    return parts.stream().map(part -> part.deadline().get()).reduce(Duration.ZERO, Duration::plus);
  }

  /** Stops all parts, the last one first, unless they stop already. */
  void stop() throws InterruptedException {
    if (stopping.getAndSet(true)) {
      return;
    }
    for (int i = parts.size() - 1; i >= 0; i--) {
      stop(parts.get(i));
    }
  }

  private void stop(Part part) throws InterruptedException {
    Duration deadline = part.deadline().get();
    CountDownLatch done = new CountDownLatch(1);
    Thread thread =
        DaemonThreads.create(
            "weir-stop-" + part.name(),
            () -> {
              try {
                part.stop().run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (Throwable e) {
                Logs.LOG.log(Level.SEVERE, "stop: " + part.name() + " failed", e);
              } finally {
                done.countDown();
              }
            });
    try {
      thread.start();
      if (done.await(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (OutOfMemoryError e) { // No memory for a thread.
      Logs.LOG.log(Level.SEVERE, "stop: " + part.name() + " failed", e);
    }
    left.add(part.name());
    Logs.LOG.severe(
        "stop: "
            + part.name()
            + " did not end within "
            + deadline.toMillis()
            + " ms; the server stops without it");
  }

  /** Returns the parts that did not stop in time. */
  List<String> left() {
    return left;
  }

  /** Stops all parts of a server that has not started, the last one first, unless they stop. */
  void abandon() {
    if (stopping.getAndSet(true)) {
      return;
    }
    for (int i = parts.size() - 1; i >= 0; i--) {
      try {
        parts.get(i).abandon().run();
      } catch (RuntimeException e) {
        Logs.LOG.log(Level.FINE, "start: " + parts.get(i).name(), e);
      }
    }
  }
}
