package dev.weir.shared;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Runs what a store does from time to time. Safe for use by many threads. */
public interface Housekeeping extends AutoCloseable {
  /** Has a task run now, and again so many nanoseconds after it has ended, until this is closed. */
  void every(long nanos, Runnable task);

  @Override
  void close();

  /** Returns housekeeping by a daemon thread of that name. */
  static Housekeeping thread(String name) {
    ScheduledExecutorService executor =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    return new Housekeeping() {
      @Override
      public void every(long nanos, Runnable task) {
        Object unused = executor.scheduleWithFixedDelay(task, 0, nanos, TimeUnit.NANOSECONDS);
      }

      @Override
      public void close() {
        executor.shutdownNow();
      }
    };
  }
}
