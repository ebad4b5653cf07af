package dev.weir.grpc;

import dev.weir.internal.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads for calls that are decided late, if no other executor is set. */
final class LateThreads {
  private static final long KEEP_SECONDS = 60;

  private LateThreads() {}

  /**
   * Returns an executor with as many threads as tasks, like gRPC's own. It has no threads before
   * the first task, they are daemons, and without work they end after a minute.
   */
  static Executor create() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        KEEP_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        DaemonThreads.numbered("weir-grpc"));
  }
}
