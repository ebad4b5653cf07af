package dev.weir.client.internal.lease;

import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.shared.Clocks;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Permits of one key that the service has charged and this client may spend on its own until they
 * end. Safe for use by many threads.
 */
public final class Lease {
  /*
   * Why does the limit hold? The service charges the permits at g, and counts them until g + L + W.
   * The client sent its ask at s <= g and spends until s + L - max(1 ms, L/100) by its own clocks,
   * so every permit is spent within [g, g + L], if the clocks' rates differ by less than 1 %.
   * Either clock may say that it is over: the monotonic one stands still while a machine is
   * suspended, the wall clock may be set back, and both are not wrong at once.
   *
   * The clocks are read after the permits are taken: a thread that is held up in between would
   * otherwise spend them at any time.
   */
  private static final long LEAST_MARGIN_NANOS = 1_000_000L;
  private static final long MARGIN_PART = 100;

  /** In place of the permits left. */
  public static final long CLOSED = -1;

  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Tells it from the other leases of this process. */
  public final long number = NUMBERS.getAndIncrement();

  private final long id;
  private final Service lender;
  private final long lent;
  private final Clocks.Instant ends;
  private final long lifeNanos;
  private final Answer answer;
  private final AtomicLong left;

  /** What was left when it was closed. */
  private volatile long unspent;

  /**
   * @param sentAt when the ask was sent
   * @param lifeNanos as the service said it
   * @param answer the one to all single requests that are admitted by this lease: it says what
   *     remained beside it when it was granted, which is never too much
   */
  Lease(
      long id, Service lender, long permits, Clocks.Instant sentAt, long lifeNanos, Answer answer) {
    this.id = id;
    this.lender = lender;
    this.lent = permits;
    this.lifeNanos = lifeNanos;
    this.ends = sentAt.plus(usableNanos(lifeNanos));
    this.answer = answer;
    left = new AtomicLong(permits);
  }

  /** Returns for how long after sending its ask a client may spend a lease; may be negative. */
  static long usableNanos(long lifeNanos) {
    return lifeNanos - Math.max(LEAST_MARGIN_NANOS, lifeNanos / MARGIN_PART);
  }

  /** Takes permits if there are so many and the lease has not ended. */
  boolean spend(long permits, Clocks clocks) {
    if (!take(permits)) {
      return false;
    }
    if (!clocks.reached(ends)) {
      return true;
    }
    boolean unused = put(permits);
    return false;
  }

  boolean take(long permits) {
    for (long has = left.get(); has >= permits; has = left.get()) {
      if (left.compareAndSet(has, has - permits)) {
        return true;
      }
    }
    return false;
  }

  /** Puts back what was taken; returns whether the lease could take it. */
  boolean put(long permits) {
    for (long has = left.get(); has != CLOSED && has + permits <= lent; has = left.get()) {
      if (left.compareAndSet(has, has + permits)) {
        return true;
      }
    }
    return false;
  }

  /** Ends the lease; returns what is left for its return, or {@link #CLOSED} if it had ended. */
  long close() {
    long rest = left.getAndSet(CLOSED);
    if (rest != CLOSED) {
      unspent = rest;
    }
    return rest;
  }

  boolean over(Clocks clocks) {
    return clocks.reached(ends);
  }

  /** Returns what has not been spent of it, be it closed or not. */
  long unspent() {
    long rest = left.get();
    return rest == CLOSED ? unspent : rest;
  }

  /** Returns whether there is nothing to be given back. */
  boolean empty() {
    return left.get() <= 0;
  }

  long id() {
    return id;
  }

  Service lender() {
    return lender;
  }

  long lent() {
    return lent;
  }

  public Clocks.Instant ends() {
    return ends;
  }

  long lifeNanos() {
    return lifeNanos;
  }

  Answer answer() {
    return answer;
  }

  Status status() {
    return answer.statuses().get(0);
  }
}
