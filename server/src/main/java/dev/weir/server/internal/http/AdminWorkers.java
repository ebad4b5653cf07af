package dev.weir.server.internal.http;

import dev.weir.admin.AdminCaller;
import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The threads that wait for answers of the administration. Safe for use by many threads. */
public final class AdminWorkers implements AutoCloseable {
  /*
   * How are the threads shared? A single client that sends its slowest request again and again must
   * not keep an operator from revoking its token. So each caller, which is a token or else an
   * address, has a share of the threads and of the waiting places. And one more thread and four
   * more places are for operators alone, for the case that several callers together take all
   * others.
   *
   * Steps that wait are taken in their order, but a step whose caller has its share of threads is
   * passed over. The further steps of an answer need no place: there is at most one of them for each
   * connection, and connections are bounded. A step whose client has gone gives its place back at
   * once.
   *
   * The pool decides nothing: a step is passed to it only when there is a thread for it.
   */

  /**
   * The number of threads. Administration serves a few users and tools; most requests take
   * milliseconds.
   */
  static final int THREADS = 8;

  /** The most requests that wait for a thread; a further one is refused. */
  static final int QUEUE = 16;

  /** The most threads that work for one caller at a time. */
  static final int THREADS_EACH = 2;

  /** The most requests of one caller that wait. */
  static final int QUEUE_EACH = 4;

  /** The threads for operators alone, in addition. */
  static final int THREADS_FOR_OPERATORS = 1;

  /** The places for waiting requests of operators alone, in addition. */
  static final int QUEUE_FOR_OPERATORS = 4;

  private static final long IDLE_SECONDS = 30;

  /** The steps of one caller. */
  private static final class Share {
    int running;
    int waiting;
  }

  /** A step that waits for a thread, or has one. */
  final class Step {
    private final AdminCaller caller;
    private final Share share;
    private final Runnable task;

    /** True if it takes one of the bounded places. */
    private final boolean bounded;

    /** True if its place, or its thread, is one of those for operators. */
    private boolean reserved;

    private Step(AdminCaller caller, Share share, Runnable task, boolean bounded) {
      this.caller = caller;
      this.share = share;
      this.task = task;
      this.bounded = bounded;
    }

    /** Removes the step if it still waits; returns whether it did. */
    boolean drop() {
      synchronized (AdminWorkers.this) {
        boolean waited = waiting.remove(this);
        if (waited) {
          leftQueue(this);
          forget(this);
        }
        return waited;
      }
    }
  }

  private final ThreadPoolExecutor threads;

  /** The shares of callers that have a step. */
  private final Map<String, Share> shares = new HashMap<>();

  /** The steps that wait, in their order. */
  private final Set<Step> waiting = new LinkedHashSet<>();

  private int running;
  private int runningReserved;
  private int queued;
  private int queuedReserved;

  public AdminWorkers() {
    int all = THREADS + THREADS_FOR_OPERATORS;
    threads =
        new ThreadPoolExecutor(
            all,
            all,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered("weir-admin"));
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs the first step of a request, if there is room for it.
   *
   * @return the step, or null if there is no room
   */
  synchronized @Nullable Step admit(AdminCaller caller, Runnable task) {
    Share share = shares.computeIfAbsent(caller.name(), name -> new Share());
    Step step = new Step(caller, share, task, true);
    boolean room = canRun(step) || hasPlace(step);
    if (room && take(step)) {
      return step;
    }
    forget(step);
    return null;
  }

  /** Runs a further step of a request; returns false if the server stops. */
  synchronized boolean run(AdminCaller caller, Runnable task) {
    Share share = shares.computeIfAbsent(caller.name(), name -> new Share());
    Step step = new Step(caller, share, task, false);
    if (take(step)) {
      return true;
    }
    forget(step);
    return false;
  }

  /** Returns why a request is refused that {@link #admit} has not taken. */
  synchronized String refusal(AdminCaller caller) {
    Share share = shares.get(caller.name());
    if (share != null && share.waiting >= QUEUE_EACH) {
      return "requests: more than the server works on for one token or address at a time (expected:"
          + " at most "
          + (THREADS_EACH + QUEUE_EACH)
          + ")";
    }
    return "requests: more than the server works on at a time (expected: at most "
        + (THREADS + QUEUE)
        + ")";
  }

  /** Takes a step for which there is room, now or when its turn comes. */
  private boolean take(Step step) {
    if (canRun(step)) {
      return start(step);
    }
    waiting.add(step);
    if (step.bounded) {
      step.reserved = queued >= QUEUE;
      queued += step.reserved ? 0 : 1;
      queuedReserved += step.reserved ? 1 : 0;
      step.share.waiting++;
    }
    return !threads.isShutdown();
  }

  private boolean canRun(Step step) {
    return step.share.running < THREADS_EACH
        && (running < THREADS
            || (step.caller.isOperator() && runningReserved < THREADS_FOR_OPERATORS));
  }

  private boolean hasPlace(Step step) {
    return step.share.waiting < QUEUE_EACH
        && (queued < QUEUE || (step.caller.isOperator() && queuedReserved < QUEUE_FOR_OPERATORS));
  }

  private void leftQueue(Step step) {
    if (step.bounded) {
      queued -= step.reserved ? 0 : 1;
      queuedReserved -= step.reserved ? 1 : 0;
      step.share.waiting--;
    }
  }

  private boolean start(Step step) {
    step.reserved = running >= THREADS;
    running += step.reserved ? 0 : 1;
    runningReserved += step.reserved ? 1 : 0;
    step.share.running++;
    try {
      threads.execute(
          new GuardedTask(
              Loop.ADMIN,
              () -> {
                try {
                  step.task.run();
                } finally {
                  ended(step);
                }
              }));
      return true;
    } catch (RejectedExecutionException e) {
      left(step);
      return false;
    }
  }

  private void left(Step step) {
    running -= step.reserved ? 0 : 1;
    runningReserved -= step.reserved ? 1 : 0;
    step.share.running--;
  }

  /** Starts the first steps that now have a thread. */
  private synchronized void ended(Step step) {
    left(step);
    forget(step);
    Iterator<Step> next = waiting.iterator();
    while (next.hasNext()) {
      Step each = next.next();
      if (canRun(each)) {
        next.remove();
        leftQueue(each);
        if (!start(each)) {
          return; // The server stops.
        }
      }
    }
  }

  /** Removes a caller without steps, so that no callers of the past are kept. */
  private void forget(Step step) {
    boolean further = waiting.stream().anyMatch(each -> each.share == step.share);
    if (step.share.running == 0 && !further) {
      shares.remove(step.caller.name(), step.share);
    }
  }

  /** Returns the number of callers that have a step. */
  synchronized int callers() {
    return shares.size();
  }

  /** Interrupts the running steps; steps that have not begun are dropped. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
