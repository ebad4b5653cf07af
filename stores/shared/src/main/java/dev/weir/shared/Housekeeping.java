package dev.weir.shared;

import dev.weir.shared.internal.HousekeepingThread;
import java.util.function.LongSupplier;

/** A runner of a store's periodic task. Safe for use by many threads. */
public interface Housekeeping extends AutoCloseable {
  /**
   * Runs a task now, and then again and again until this is closed: the task returns the
   * nanoseconds from its end to the next run. To be called once.
   */
  void repeat(LongSupplier task);

  /** Runs the task now, before it is due, on its usual thread. */
  void wake();

  @Override
  void close();

  /** Returns a runner with a daemon thread of that name. */
  static Housekeeping thread(String name) {
    return new HousekeepingThread(name);
  }
}
