package dev.weir;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Permits that are charged for an instant to come, or the refusal to charge them. Safe for use by
 * many threads.
 *
 * <p>The holder of a granted reservation may act from its instant on, without another request.
 */
public final class Reservation {
  private final Requests requests;
  private final long fingerprint;
  private final long permits;
  private final Decision decision;
  private final long dueNanos;
  private final AtomicBoolean over;

  Reservation(Requests requests, long fingerprint, long permits, Decision decision, long dueNanos) {
    this.requests = requests;
    this.fingerprint = fingerprint;
    this.permits = permits;
    this.decision = decision;
    this.dueNanos = dueNanos;
    this.over = new AtomicBoolean(!decision.allowed());
  }

  /** Returns whether the holder may act: the permits are charged, or tolerated. */
  public boolean granted() {
    return decision.allowed();
  }

  /** Returns the decision that charged the permits, or refused them. */
  public Decision decision() {
    return decision;
  }

  /** Returns the nanoseconds until the holder may act, 0 if the instant has come. */
  public long waitNanos() {
    return Math.max(0, dueNanos - requests.ticker.nanos());
  }

  /**
   * Waits for the instant.
   *
   * @throws InterruptedException if the thread is interrupted; the reservation is then cancelled
   * @throws IllegalStateException if it was not granted, or was cancelled
   */
  public void await() throws InterruptedException {
    if (over.get()) {
      throw new IllegalStateException(
          "reservation: refused or cancelled (expected: a granted one), by " + decision.policy());
    }
    try {
      for (long wait = waitNanos(); wait > 0; wait = waitNanos()) {
        requests.ticker.sleep(wait);
      }
    } catch (InterruptedException e) {
      cancel();
      throw e;
    }
  }

  /**
   * Gives the permits back, but only as many as cannot admit too much: while later reservations
   * wait, a bucket takes back only the last one, since the others keep their instants.
   *
   * @return whether all permits were given back; false also from the second call on
   */
  public boolean cancel() {
    return !over.getAndSet(true) && requests.refund(fingerprint, permits, decision) == permits;
  }

  /** Gives the permits back like {@link #cancel}, but without waiting for the store. */
  void cancelAsync() {
    if (!over.getAndSet(true)) {
      requests.refundAsync(fingerprint, permits, decision);
    }
  }
}
