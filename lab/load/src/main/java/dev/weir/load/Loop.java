package dev.weir.load;

/** A thread that runs tasks in order. A lane and its connection stay on one loop. */
interface Loop {
  /** Runs the task on the loop's thread, soon. */
  void execute(Runnable task);

  /** Runs the task on the loop's thread, after the delay. */
  void later(long delayNanos, Runnable task);
}
