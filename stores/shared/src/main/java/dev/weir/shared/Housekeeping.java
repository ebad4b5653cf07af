package dev.weir.shared;

import dev.weir.shared.internal.HousekeepingThread;
import java.util.function.LongSupplier;

/** Runs what a store does from time to time. Safe for use by many threads. */
public interface Housekeeping extends AutoCloseable {
  /**
   * Has a task run now, and again so many nanoseconds after it has ended as it returns, until this
   * is closed. To be called once.
   */
  void repeat(LongSupplier task);

  /** Has the task run now, and not only when it is due; on the same thread as ever. */
  void wake();

  @Override
  void close();

  /** Returns housekeeping by a daemon thread of that name. */
  static Housekeeping thread(String name) {
    return new HousekeepingThread(name);
  }
}
