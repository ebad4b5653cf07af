package dev.weir.server.internal.guard;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The memory of requests that have arrived whole and wait for their decision: by a shared store, by
 * another server, or for the limits of a subject. One budget for all ports. Safe for use by many
 * threads.
 */
public final class UndecidedBytes {
  /*
   * Why is this not part of PendingBytes? What PendingBytes counts is the client's to finish, so its
   * connection is closed when there is too much. These requests are the server's to answer: beyond
   * the budget the next one is answered OVERLOADED, and no connection is closed. With one sum, a
   * store that hangs would close connections, and unfinished requests would have whole ones refused.
   *
   * A request that is decided before the call returns, as all are without such a store, is never
   * counted: there is nothing to wait for.
   */

  /** About what gRPC keeps of a call in flight, beside the message. */
  public static final long CALL_BYTES = 4 << 10;

  private static final long ANSWERED = -1;

  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  public UndecidedBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the bytes of all requests that wait now. */
  public long bytes() {
    return bytes.get();
  }

  /** Returns whether one more request is to be refused. */
  public boolean isFull() {
    return bytes.get() >= maxBytes;
  }

  /** Returns what hands an answer on to {@code done}, and counts the request until then. */
  public <A> PendingDecision<A> until(Consumer<? super A> done) {
    return new PendingDecision<>(done);
  }

  /** A request that has been handed over to be decided. */
  public final class PendingDecision<A> implements Consumer<A> {
    private final Consumer<? super A> done;

    /** The bytes that are counted for the request, or {@link #ANSWERED}. */
    private final AtomicLong counted = new AtomicLong();

    private PendingDecision(Consumer<? super A> done) {
      this.done = done;
    }

    /** Returns whether the answer has come. */
    public boolean isAnswered() {
      return counted.get() == ANSWERED;
    }

    /** Counts the request, once, unless it is answered by now. */
    public void count(long most) {
      bytes.addAndGet(most);
      if (!counted.compareAndSet(0, most)) {
        bytes.addAndGet(-most);
      }
    }

    @Override
    public void accept(A answer) {
      long before = counted.getAndSet(ANSWERED);
      if (before > 0) {
        bytes.addAndGet(-before);
      }
      done.accept(answer);
    }
  }
}
