package dev.weir.load;

import java.util.ArrayDeque;
import java.util.Deque;

/** Runs at once what shall run, and keeps what shall run later. */
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
