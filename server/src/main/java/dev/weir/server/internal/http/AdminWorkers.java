package dev.weir.server.internal.http;

import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that wait for answers of the administration. Safe for use by many threads. */
public final class AdminWorkers implements AutoCloseable {
  /**
   * The number of threads. Administration serves a few users and tools; most requests take
   * milliseconds.
   */
  static final int THREADS = 8;

  /** The most requests that wait for a thread; a further one is refused. */
  static final int QUEUE = 16;

  private static final long IDLE_SECONDS = 30;

  private final AtomicInteger admitted = new AtomicInteger();
  private final ThreadPoolExecutor threads;

  public AdminWorkers() {
    // The queue has no bound of its own: besides requests that were admitted, it holds at most one
    // piece of an answer for each connection, and those are bounded.
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered("weir-admin"));
    threads.allowCoreThreadTimeOut(true);
  }

  /** Runs the first step of a request, if there is room for it; returns whether there is. */
  boolean admit(Runnable step) {
    if (admitted.incrementAndGet() <= THREADS + QUEUE
        && run(
            () -> {
              try {
                step.run();
              } finally {
                admitted.decrementAndGet();
              }
            })) {
      return true;
    }
    admitted.decrementAndGet();
    return false;
  }

  /** Runs a further step of a request; returns false if the server stops. */
  boolean run(Runnable step) {
    try {
      threads.execute(new GuardedTask(Loop.ADMIN, step));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Interrupts the running steps; steps that have not begun are dropped. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
