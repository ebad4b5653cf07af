package dev.weir.load;

/** One thread that runs tasks in order. A lane and its connection stay on one. */
interface Loop {
  /** Runs the task on the loop's thread, soon. */
  void execute(Runnable task);

  /** Runs the task on the loop's thread, after the delay. */
  void later(long delayNanos, Runnable task);
}
