package dev.weir;

import dev.weir.internal.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that run what is due, by the system's clocks. They end when they are idle for some
 * seconds.
 */
final class TimerThreads {
  /*
   * Why not the JDK's common pool? Deadlines are among the tasks, and applications block that pool,
   * with calls to databases for example. From JDK 25 on it is used also where it has one thread,
   * as on two processors; the JDKs before start a thread for each task there.
   */
  static final Executor EXECUTOR = executor();

  private static final int LEAST = 4;

  private static final int KEPT_SECONDS = 5;

  private TimerThreads() {}

  private static Executor executor() {
    int threads = Math.max(LEAST, 2 * Runtime.getRuntime().availableProcessors());
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            threads,
            threads,
            KEPT_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered("weir-timer"));
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
