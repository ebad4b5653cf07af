package dev.weir.server;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.ServerCall;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the calls that a stopping server has to wait for. Safe for use by many threads, which do
 * not disturb each other while nobody waits.
 */
final class InFlight {
  /** Calls that end while they are being counted are looked for once more. */
  private static final long LOOK_AGAIN_NANOS = 10_000_000L;

  private final LongAdder calls = new LongAdder();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition some = lock.newCondition();
  private volatile boolean awaited;

  void begin() {
    calls.increment();
  }

  /** Returns a listener that tells of the end of a call that has begun. */
  <A> ServerCall.Listener<A> untilTheEnd(ServerCall.Listener<A> listener) {
    return new SimpleForwardingServerCallListener<>(listener) {
      @Override
      public void onComplete() {
        end();
        super.onComplete();
      }

      @Override
      public void onCancel() {
        end();
        super.onCancel();
      }
    };
  }

  private void end() {
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

  /** Waits until there is none; returns whether that came in time. */
  boolean awaitNone(long timeoutNanos) throws InterruptedException {
    long left = timeoutNanos;
    lock.lock();
    try {
      awaited = true;
      while (calls.sum() > 0 && left > 0) {
        long most = Math.min(left, LOOK_AGAIN_NANOS);
        left -= most - Math.max(0, some.awaitNanos(most));
      }
      return calls.sum() <= 0;
    } finally {
      lock.unlock();
    }
  }
}
