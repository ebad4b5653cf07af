package dev.weir.shared.internal;

import dev.weir.Ticker;
import dev.weir.shared.Caller;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Link;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Operations that a shard has not decided, because it does not have their keys any more, or not
 * yet. They are sent again to the shard that has the keys by then. Safe for use by many threads.
 */
public final class MovedOperations {
  /*
   * A shard that answers so has certainly decided nothing; so the operation may be sent once more,
   * as if it had not been sent before. While keys are on their way, which takes some milliseconds,
   * no shard has them: the operation waits and is sent again, for half of its time; with less time
   * left, it would fail the others that share its call.
   */
  private static final long PAUSE_NANOS = 10_000_000L;

  /** The most operations that wait; far more than can be answered in time. */
  private static final int MOST_WAITING = 1 << 16;

  private final Link link;
  private final Counters counters;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final Queue<WaitingOperation> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean closed;

  private record WaitingOperation(Operation operation, long untilNanos) {}

  public MovedOperations(Link link, Counters counters, Ticker ticker, long timeoutNanos) {
    this.link = link;
    this.counters = counters;
    this.ticker = ticker;
    this.timeoutNanos = timeoutNanos;
  }

  /**
   * Takes an operation that was not decided.
   *
   * @param by the caller that sent it
   */
  public void add(Operation asked, Caller by) {
    Operation operation = asked.again();
    operation.elsewhere = this;
    long now = ticker.nanos();
    operation.waitedNanos = timeoutNanos - (operation.deadlineNanos - now);
    boolean elsewhere =
        !operation.inOne(link) || link.caller(operation.binding(), operation.fingerprint()) != by;
    if (elsewhere) {
      again(operation);
      return;
    }
    link.moved();
    if (closed || waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      fail(operation);
    } else {
      queue.add(new WaitingOperation(operation, now + PAUSE_NANOS));
      if (closed) { // Closed meanwhile: nothing would run again.
        close();
      }
    }
  }

  /** Sends the waiting operations again. */
  public void tick() {
    long now = ticker.nanos();
    for (int i = waiting.get(); i > 0; i--) {
      WaitingOperation next = queue.poll();
      if (next == null) {
        return;
      }
      if (now - next.untilNanos < 0) {
        queue.add(next);
      } else {
        waiting.decrementAndGet();
        next.operation.waitedNanos = timeoutNanos - (next.operation.deadlineNanos - now);
        again(next.operation);
      }
    }
  }

  /** Returns whether no operation waits. */
  public boolean idle() {
    return waiting.get() == 0;
  }

  private void again(Operation operation) {
    Caller caller = link.caller(operation.binding(), operation.fingerprint());
    if (caller == null || closed || operation.waitedNanos > timeoutNanos / 2) {
      fail(operation);
    } else if (operation.inOne(link)) {
      caller.send(operation);
    } else {
      operation.apart();
    }
  }

  private void fail(Operation operation) {
    counters.failed(Failure.MOVED, operation.charges());
    operation.fail(Failure.MOVED);
  }

  /** Fails waiting operations, and all that come later. */
  public void close() {
    closed = true;
    for (WaitingOperation next = queue.poll(); next != null; next = queue.poll()) {
      waiting.decrementAndGet();
      fail(next.operation);
    }
  }
}
