package dev.weir.client.internal.lease;

import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.shared.Clocks;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Permits of one key that the service has charged and this client may spend on its own for a time.
 * Safe for use by many threads.
 */
public final class Lease {
  /*
   * Why does the limit hold? The service charges the permits at g, and counts them until g + L + W.
   * The client sent its request at s <= g and spends until s + L - max(1 ms, L/100) by its own
   * clocks. So every permit is spent within [g, g + L], if the clocks' rates differ by less than 1
   * %. Either clock alone can end the lease: the monotonic clock stops while a machine is
   * suspended, the wall clock may be set back, but both are not wrong at once.
   *
   * The clocks are read after the permits are taken: otherwise a thread that is held up in between
   * could spend them at any time.
   */
  private static final long LEAST_MARGIN_NANOS = 1_000_000L;
  private static final long MARGIN_PART = 100;

  /** The value of the permits left once the lease is closed. */
  public static final long CLOSED = -1;

  private static final AtomicLong NUMBERS = new AtomicLong();

  /** The number that identifies the lease in this process. */
  public final long number = NUMBERS.getAndIncrement();

  private final long id;
  private final Service lender;
  private final long lent;
  private final Clocks.Instant ends;
  private final long lifeNanos;
  private final Answer answer;
  private final AtomicLong left;

  /** The permits that were left when the lease was closed. */
  private volatile long unspent;

  /**
   * @param sentAt the instant at which the request was sent
   * @param lifeNanos the lifetime that the service stated, in nanoseconds
   * @param answer the answer to each single request that is admitted from this lease. It states the
   *     permits that remained besides the lease when it was granted, which is not too many
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

  /**
   * Returns the nanoseconds after sending its request for which a client may spend a lease; may be
   * negative.
   */
  static long usableNanos(long lifeNanos) {
    return lifeNanos - Math.max(LEAST_MARGIN_NANOS, lifeNanos / MARGIN_PART);
  }

  /** Takes permits if enough are left and the lease has not ended. */
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

  /** Puts permits back; returns whether the lease could take them. */
  boolean put(long permits) {
    for (long has = left.get(); has != CLOSED && has + permits <= lent; has = left.get()) {
      if (left.compareAndSet(has, has + permits)) {
        return true;
      }
    }
    return false;
  }

  /** Ends the lease; returns the permits to give back, or {@link #CLOSED} if it had ended. */
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

  /** Returns the unspent permits, also of a closed lease. */
  long unspent() {
    long rest = left.get();
    return rest == CLOSED ? unspent : rest;
  }

  /** Returns whether there are no permits to give back. */
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
