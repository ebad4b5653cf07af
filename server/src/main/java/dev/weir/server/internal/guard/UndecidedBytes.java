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
   * Why is this not part of PendingBytes? The client has to finish what PendingBytes counts, so its
   * connection is closed when there is too much. The server has to answer these requests: beyond
   * the budget the next one is answered OVERLOADED, and no connection is closed. With one sum, a
   * store that hangs would close connections, and unfinished requests would cause the refusal of
   * complete ones.
   *
   * A request that is decided before the call returns is never counted: there is nothing to wait
   * for. Without such a store this is every request.
   */

  /** The approximate bytes that gRPC keeps of a call in flight, besides the message. */
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

  /**
   * Returns a consumer that passes an answer on to {@code done}, and counts the request until then.
   */
  public <A> PendingDecision<A> until(Consumer<? super A> done) {
    return new PendingDecision<>(done);
  }

  /** A request that waits for its decision. */
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

    /** Counts the request, once, unless it has been answered. */
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
