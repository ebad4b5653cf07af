package dev.weir.engine;

/** Runs tasks later. Must be safe for use by many threads. */
public interface Alarm extends AutoCloseable {
  /**
   * Runs a task after a delay, once, on a thread that it must not block.
   *
   * @param delayNanos at least 0
   * @return cancels the task if it has not begun
   */
  Runnable after(long delayNanos, Runnable task);

  /** Forgets all tasks. */
  @Override
  void close();
}
