package dev.weir.server;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the calls that a stopping server has to wait for: those of one request. A client that
 * watches our health would keep its stream open for ever.
 */
final class InFlight implements ServerInterceptor {
  private final AtomicInteger calls = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
    if (call.getMethodDescriptor().getType() != MethodType.UNARY) {
      return next.startCall(call, metadata);
    }
    calls.incrementAndGet();
    return new SimpleForwardingServerCallListener<>(next.startCall(call, metadata)) {
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
    if (calls.decrementAndGet() == 0) {
      lock.lock();
      try {
        none.signalAll();
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
      while (calls.get() > 0 && left > 0) {
        left = none.awaitNanos(left);
      }
      return calls.get() == 0;
    } finally {
      lock.unlock();
    }
  }
}
