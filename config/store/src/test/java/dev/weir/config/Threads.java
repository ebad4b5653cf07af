package dev.weir.config;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A way to run the same task on several threads that begin together. */
public final class Threads {
  /** The longest time of a race; longer for a slow database, by {@code -Dweir.race.seconds}. */
  private static final long DEADLINE_SECONDS = Long.getLong("weir.race.seconds", 120);

  private Threads() {}

  /** A task of one thread. */
  public interface Task {
    void run(int thread) throws Exception;
  }

  /** Runs a task and returns when all threads have ended; throws what one of them has thrown. */
  public static void race(int threads, Task task) throws Exception {
    CyclicBarrier start = new CyclicBarrier(threads);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        running.add(
            executor.submit(
                () -> {
                  start.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
                  task.run(thread);
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }
}
