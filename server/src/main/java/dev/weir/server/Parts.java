package dev.weir.server;

import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.log.Logs;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.logging.Level;

/**
 * The parts of a server, in the order in which they started. They stop in reverse, each on a thread
 * of its own and within its deadline: a part that hangs, or has lost its threads, must not keep the
 * others from stopping. A part whose stop fails counts as one that hangs, because it may still be
 * at work. They stop once: of a drain and a start that fails at the same time, the first one stops
 * them. Parts are added by one thread.
 */
final class Parts {
  /** A task that stops one part; may hang. */
  interface Stop {
    /**
     * Stops the part.
     *
     * @throws IOException if the part has not ended; the message has the reason
     */
    void run() throws IOException, InterruptedException;
  }

  /**
   * One part.
   *
   * @param name for the log
   * @param deadline the longest time that its stop may take
   * @param abandon its stop when the server has not started
   */
  private record Part(String name, Supplier<Duration> deadline, Stop stop, Stop abandon) {}

  private final List<Part> parts = new ArrayList<>();
  private final List<String> left = new CopyOnWriteArrayList<>();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch abandoned = new CountDownLatch(1);

  /** Adds a part that has started, and whose stop does not wait. */
  void add(String name, Duration deadline, Runnable stop) {
    add(name, () -> deadline, stop::run, stop::run);
  }

  /**
   * Adds a part that has started.
   *
   * @param name for the log
   * @param deadline the longest time that its stop may take, read when it stops
   * @param stop stops it
   * @param abandon stops it when a later part does not start; must not wait for clients
   */
  void add(String name, Supplier<Duration> deadline, Stop stop, Stop abandon) {
    parts.add(new Part(name, deadline, stop, abandon));
  }

  /** Replaces the stop of a part that another one has taken over and stops with itself. */
  void replaceStop(String name, Runnable stop) {
    parts.replaceAll(
        part ->
            part.name().equals(name)
                ? new Part(name, part.deadline(), stop::run, stop::run)
                : part);
  }

  /** Returns the longest time that {@link #stop} takes. */
  Duration longest() {
    return parts.stream().map(part -> part.deadline().get()).reduce(Duration.ZERO, Duration::plus);
  }

  /**
   * Stops all parts, the last one first. If a start that has failed stops them already, it waits
   * for that.
   */
  void stop() throws InterruptedException {
    if (stopping.getAndSet(true)) {
      awaitAbandoned();
      return;
    }
    for (int i = parts.size() - 1; i >= 0; i--) {
      stop(parts.get(i));
    }
  }

  private void awaitAbandoned() throws InterruptedException {
    if (!abandoned.await(longest().toNanos(), TimeUnit.NANOSECONDS)) {
      left.add("start");
      Logs.LOG.severe("stop: the parts of a start that has failed did not end");
    }
  }

  private void stop(Part part) throws InterruptedException {
    Duration deadline = part.deadline().get();
    CountDownLatch done = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    Thread thread =
        DaemonThreads.create(
            "weir-stop-" + part.name(),
            () -> {
              try {
                part.stop().run();
                ended.set(true);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (IOException e) {
                Logs.LOG.severe("stop: " + part.name() + ": " + e.getMessage());
              } catch (Throwable e) {
                Logs.LOG.log(Level.SEVERE, "stop: " + part.name() + " failed", e);
              } finally {
                done.countDown();
              }
            });
    try {
      thread.start();
      if (!done.await(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
        Logs.LOG.severe(
            "stop: "
                + part.name()
                + " did not end within "
                + deadline.toMillis()
                + " ms; the server stops without it");
      } else if (ended.get()) {
        return;
      }
    } catch (OutOfMemoryError e) { // No memory for a thread.
      Logs.LOG.log(Level.SEVERE, "stop: " + part.name() + " failed", e);
    }
    left.add(part.name());
  }

  /** Returns the parts that did not stop in time, or failed to stop: they may still be at work. */
  List<String> left() {
    return left;
  }

  /** Stops all parts of a server that has not started, the last one first, unless they stop. */
  void abandon() {
    if (stopping.getAndSet(true)) {
      return;
    }
    boolean interrupted = Thread.interrupted(); // An interrupt would keep files from being saved.
    for (int i = parts.size() - 1; i >= 0; i--) {
      interrupted |= abandon(parts.get(i));
    }
    abandoned.countDown();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops a part of a server that has not started; returns true if that was interrupted. */
  private boolean abandon(Part part) {
    try {
      part.abandon().run();
      return false;
    } catch (InterruptedException e) {
      left.add(part.name());
      return true;
    } catch (IOException e) {
      left.add(part.name());
      Logs.LOG.severe("start: " + part.name() + ": " + e.getMessage());
    } catch (RuntimeException | Error e) {
      left.add(part.name());
      Logs.LOG.log(Level.FINE, "start: " + part.name(), e);
    }
    return Thread.interrupted();
  }
}
