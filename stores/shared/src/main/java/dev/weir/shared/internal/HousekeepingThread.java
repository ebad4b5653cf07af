package dev.weir.shared.internal;

import dev.weir.internal.DaemonThreads;
import dev.weir.shared.Housekeeping;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Housekeeping on a thread of its own, which waits between two runs. */
public final class HousekeepingThread implements Housekeeping {
  private final Thread thread;
  private final Semaphore wakes = new Semaphore(0);
  private volatile @Nullable LongSupplier task;
  private volatile boolean closed;

  public HousekeepingThread(String name) {
    thread = DaemonThreads.create(name, this::run);
  }

  @Override
  public void repeat(LongSupplier repeated) {
    task = repeated;
    thread.start();
  }

  private void run() {
    LongSupplier repeated = Objects.requireNonNull(task);
    while (!closed) {
      long nanos = repeated.getAsLong();
      try {
        boolean unused = wakes.tryAcquire(nanos, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        // Interrupted by its own task, since no other code has the thread: the next run is early.
      }
    }
  }

  @Override
  public void wake() {
    wakes.release();
  }

  @Override
  public void close() {
    closed = true;
    wake();
  }
}
