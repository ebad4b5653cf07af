package dev.weir.grpc;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** An executor that runs its tasks at the test's command, on the test's thread. */
final class Tasks implements Executor {
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  boolean ended;

  @Override
  public void execute(Runnable task) {
    if (ended) {
      throw new RejectedExecutionException("ended");
    }
    tasks.add(task);
  }

  int due() {
    return tasks.size();
  }

  void run() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }
}
