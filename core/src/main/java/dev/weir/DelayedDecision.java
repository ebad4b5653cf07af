package dev.weir;

import java.util.concurrent.CompletableFuture;

/**
 * A decision that comes when its permits may be used. A caller that completes it in another way, by
 * cancelling it or by a timeout, gives the permits back. With one policy, permits are reserved, in
 * order; with several, they are requested again each time they may fit.
 */
final class DelayedDecision extends CompletableFuture<Decision> {
  private final Requests requests;
  private final long fingerprint;
  private final long permits;
  private final long timeoutNanos;
  private final long startNanos;

  /** The next task, if the request has to wait. */
  private volatile Ticker.ScheduledTask next = () -> {};

  private DelayedDecision(Requests requests, long fingerprint, long permits, long timeoutNanos) {
    this.requests = requests;
    this.fingerprint = fingerprint;
    this.permits = permits;
    this.timeoutNanos = timeoutNanos;
    this.startNanos = requests.ticker.nanos();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The future is this object.
  static DelayedDecision of(Requests requests, long fingerprint, long permits, long timeoutNanos) {
    DelayedDecision decision = new DelayedDecision(requests, fingerprint, permits, timeoutNanos);
    decision.whenComplete((done, otherwise) -> decision.next.cancel());
    if (requests.set().size() == 1) {
      requests.reserve(fingerprint, permits, timeoutNanos, decision::await);
    } else {
      decision.tryAgain();
    }
    return decision;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The future is this object.
  private void await(Reservation reservation) {
    whenComplete(
        (decision, otherwise) -> {
          if (otherwise != null) {
            reservation.cancelAsync();
          }
        });
    completeWhenDue(reservation);
  }

  private void completeWhenDue(Reservation reservation) {
    long wait = reservation.granted() ? reservation.waitNanos() : 0;
    if (wait == 0) {
      complete(reservation.decision());
    } else if (!isDone()) {
      schedule(wait, () -> completeWhenDue(reservation));
    }
  }

  private void schedule(long nanos, Runnable task) {
    next = requests.ticker.schedule(nanos, task);
    if (isDone()) {
      next.cancel(); // The decision was completed in the meantime.
    }
  }

  private void tryAgain() {
    if (!isDone()) {
      requests.decide(fingerprint, permits, this::decided);
    }
  }

  private void decided(Decision decision) {
    long left = timeoutNanos - Math.max(0, requests.ticker.nanos() - startNanos);
    if (Requests.waits(decision, left)) {
      schedule(decision.retryAfterNanos(), this::tryAgain);
    } else if (complete(decision)) {
      requests.reported(decision, permits);
    } else {
      requests.refundAsync(fingerprint, permits, decision);
    }
  }
}
