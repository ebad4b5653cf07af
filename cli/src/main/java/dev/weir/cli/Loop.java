package dev.weir.cli;

/** One thread that runs what it is given, in order. A lane and its connection live on one. */
interface Loop {
  /** Runs the task on the loop's thread, soon. */
  void execute(Runnable task);

  /** Runs the task on the loop's thread, after the delay. */
  void later(long delayNanos, Runnable task);
}
