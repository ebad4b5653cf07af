package dev.weir.server;

import dev.weir.internal.DaemonThreads;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.Logs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * The periodic work of a server, on one thread; an error in one kind does not affect the others.
 * Each part of the server adds its work before the start.
 */
final class PeriodicWork {
  private static final long ROUND_MILLIS = 1_000;

  /**
   * Half of the time after which a changed file is used: its new content must be found by two
   * reads.
   */
  private static final long FILES_MILLIS = 500;

  /** A kind of work, done again after each pause. */
  private record Task(long pauseMillis, Loop loop, Runnable turn) {}

  private final SystemLoad load;
  private final List<Task> tasks = new ArrayList<>();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-housekeeping"));

  PeriodicWork(SystemLoad load) {
    this.load = load;
    tasks.add(new Task(SystemLoad.POLL_MILLIS, Loop.LOAD, load::poll));
  }

  /** Adds work that is done about once a second. */
  void eachSecond(Loop loop, Runnable turn) {
    tasks.add(new Task(ROUND_MILLIS, loop, turn));
  }

  /** Adds a warning when a key space is almost full. */
  void watchFullness(FullnessWarning warning, IntSupplier fullPercent) {
    eachSecond(
        Loop.EXPIRY, () -> warning.warning(fullPercent.getAsInt()).ifPresent(Logs.LOG::warning));
  }

  /** Adds a look at files that may have changed. */
  void watchFiles(Loop loop, Runnable turn) {
    tasks.add(new Task(FILES_MILLIS, loop, turn));
  }

  /** Starts the work. */
  void start() {
    new GuardedTask(Loop.LOAD, load::poll)
        .run(); // Elastic rules are enforced until there is a reading.
    for (Task task : tasks) {
      ScheduledFuture<?> unused =
          thread.scheduleWithFixedDelay(
              new GuardedTask(task.loop(), task.turn()),
              task.pauseMillis(),
              task.pauseMillis(),
              TimeUnit.MILLISECONDS);
    }
  }

  /** Begins no more rounds, and returns at once: a round that runs goes on to its end. */
  void end() {
    thread.shutdown();
  }
}
