package dev.weir.server.internal.grpc;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The number of calls that a stopping server has to wait for. Safe for use by many threads, which
 * do not contend while no thread waits.
 */
final class InFlight {
  /** The time after which the sum is taken again if calls ended while it was taken. */
  private static final long LOOK_AGAIN_NANOS = 10_000_000L;

  private final LongAdder calls = new LongAdder();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition some = lock.newCondition();
  private volatile boolean awaited;

  void begin() {
    calls.increment();
  }

  /** Counts the end of a call that has begun. */
  void end() {
    calls.decrement();
    if (awaited) {
      lock.lock();
      try {
        some.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Returns whether there are none. */
  boolean isNone() {
    return calls.sum() <= 0;
  }

  /** Waits until there are none; returns whether that happened in time. */
  boolean awaitNone(long timeoutNanos) throws InterruptedException {
    long left = timeoutNanos;
    lock.lock();
    try {
      awaited = true;
      while (calls.sum() > 0 && left > 0) {
        long most = Math.min(left, LOOK_AGAIN_NANOS);
        left -= most - Math.max(0, some.awaitNanos(most));
      }
      return isNone();
    } finally {
      lock.unlock();
    }
  }
}
