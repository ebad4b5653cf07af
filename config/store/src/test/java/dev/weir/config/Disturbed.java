package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A process that is disturbed at one of its steps. Used by one thread at a time. */
public final class Disturbed implements SharedItems.Steps {
  /** The kinds of disturbance. */
  public enum How {
    /** The process ends before the step, and does nothing any more. */
    DIES_BEFORE,
    /** The process ends after the step. */
    DIES_AFTER,
    /** The step fails without effect; the process goes on. */
    FAILS_BEFORE,
    /** The step takes effect, but its answer is lost; the process goes on. */
    FAILS_AFTER,
    /** Another writer is in the way of a transaction, which has no effect. */
    IS_IN_THE_WAY_OF,
    /** The process waits before the step until {@link #resume}. */
    STOPS
  }

  /** The end of a process, which nothing catches. */
  public static final class Death extends Error {
    private static final long serialVersionUID = 1;
  }

  private final How how;
  private final int at;
  private final CompletableFuture<Boolean> stopped = new CompletableFuture<>();
  private final CompletableFuture<Boolean> resumed = new CompletableFuture<>();
  private final AtomicInteger steps = new AtomicInteger();
  private volatile boolean dead;

  /**
   * Creates a process.
   *
   * @param at the number of the step, from 1
   */
  public Disturbed(How how, int at) {
    this.how = how;
    this.at = at;
  }

  /** Returns true if the process got as far as the step. */
  public boolean happened() {
    return steps.get() >= at;
  }

  @Override
  public void before() {
    int step = steps.incrementAndGet();
    if (dead) {
      throw new Death();
    }
    if (step == at) {
      switch (how) {
        case DIES_BEFORE -> die();
        case FAILS_BEFORE -> throw new ConfigException(Kind.UNAVAILABLE, "not made");
        case STOPS -> stop();
        default -> {}
      }
    }
  }

  @Override
  public boolean isInTheWay() {
    return how == How.IS_IN_THE_WAY_OF && steps.get() == at;
  }

  @Override
  public void after() {
    if (steps.get() == at) {
      switch (how) {
        case DIES_AFTER -> die();
        case FAILS_AFTER -> throw new ConfigException(Kind.UNAVAILABLE, "answer lost");
        default -> {}
      }
    }
  }

  private void die() {
    dead = true;
    throw new Death();
  }

  private void stop() {
    stopped.complete(true);
    resumed.join();
  }

  /** Starts a task; returns when it has stopped at its step, or has ended. */
  public Future<?> start(ExecutorService threads, Runnable task) throws Exception {
    Future<?> running =
        threads.submit(
            () -> {
              try {
                task.run();
              } finally {
                stopped.complete(false);
              }
            });
    boolean unused = stopped.get(120, TimeUnit.SECONDS);
    return running;
  }

  public void resume() {
    resumed.complete(true);
  }
}
