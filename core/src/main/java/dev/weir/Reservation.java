package dev.weir;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Permits that are charged for an instant to come, or the refusal to charge them. Safe for use by
 * many threads.
 *
 * <p>Who holds a granted reservation may act from its instant on, without asking again.
 */
public final class Reservation {
  private final RateLimiter limiter;
  private final String key;
  private final long permits;
  private final Decision decision;
  private final long dueNanos;
  private final AtomicBoolean over;

  Reservation(RateLimiter limiter, String key, long permits, Decision decision, long dueNanos) {
    this.limiter = limiter;
    this.key = key;
    this.permits = permits;
    this.decision = decision;
    this.dueNanos = dueNanos;
    this.over = new AtomicBoolean(!decision.allowed());
  }

  /** Returns whether the holder may act: the permits are charged, or tolerated. */
  public boolean granted() {
    return decision.allowed();
  }

  /** Returns the decision that charged the permits, or refused to. */
  public Decision decision() {
    return decision;
  }

  /** Returns in how many nanoseconds the holder may act, 0 if the instant has come. */
  public long waitNanos() {
    return Math.max(0, dueNanos - limiter.ticker().nanos());
  }

  /**
   * Waits for the instant.
   *
   * @throws InterruptedException if the thread is interrupted; the reservation is then cancelled
   * @throws IllegalStateException if it was not granted, or was cancelled
   */
  public void await() throws InterruptedException {
    if (over.get()) {
      throw new IllegalStateException("reservation of " + key + ": refused or cancelled");
    }
    try {
      for (long wait = waitNanos(); wait > 0; wait = waitNanos()) {
        limiter.ticker().sleep(wait);
      }
    } catch (InterruptedException e) {
      cancel();
      throw e;
    }
  }

  /**
   * Gives the permits back, as far as that cannot admit too much: a bucket takes back only what was
   * reserved last while anybody waits behind, since those keep their instants.
   *
   * @return whether all permits were given back; false also from the second call on
   */
  public boolean cancel() {
    return !over.getAndSet(true) && limiter.refund(key, permits, decision) == permits;
  }
}
