package dev.weir.load;

import java.util.ArrayDeque;
import java.util.Deque;

/** A loop that runs tasks at once, and keeps delayed ones until the test runs them. */
final class HandLoop implements Loop {
  final Deque<Runnable> later = new ArrayDeque<>();

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public void later(long delayNanos, Runnable task) {
    later.add(task);
  }
}
