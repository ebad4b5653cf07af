package dev.weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Permits that are out until they are given back, by a limiter with policies of {@link
 * Algorithm#CONCURRENCY}; or the refusal to give them out. Safe for use by many threads.
 *
 * <pre>{@code
 * RateLimiter exports =
 *     RateLimiter.of(Policy.concurrency(2, Duration.ofMinutes(1)).build());
 * try (Seat seat = exports.seat(user)) {
 *   if (seat.granted()) {
 *     export();
 *   }
 * }
 * }</pre>
 *
 * <p>A seat is lost when it was not renewed for the policy's window, the <em>hold</em>: then
 * another may have it. Work that may take longer calls {@link #renew} a few times within that, and
 * ends when it returns false. What a process that has died does not give back is free again after
 * the hold.
 */
public final class Seat implements AutoCloseable {
  /*
   * Why are never more seats held than the limit? The store counts a seat for the hold from the
   * instant at which it receives the request; this counts from before the request is sent, and a
   * hundredth less, since two clocks may run at different speeds. So the holder's view ends first.
   * A renewal that gets no answer changes nothing here: the seat is held until its old end.
   *
   * A pause of the process between a look at isHeld and the work that follows cannot be excluded by
   * any lock with an end. [Kleppmann, How to do distributed locking, 2016]
   */

  /** The states of a seat. */
  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  /** The state, without an object of its own: there may be many seats. */
  private static final AtomicReferenceFieldUpdater<Seat, State> STATE =
      AtomicReferenceFieldUpdater.newUpdater(Seat.class, State.class, "state");

  private final Seats seats;
  private final long fingerprint;
  private final long permits;
  private final Decision decision;
  private volatile State state;
  private volatile SeatEnd end;

  Seat(Seats seats, long fingerprint, long permits, Decision decision, SeatEnd end) {
    this.seats = seats;
    this.fingerprint = fingerprint;
    this.permits = permits;
    this.decision = decision;
    this.state = decision.allowed() ? State.HELD : State.RELEASED;
    this.end = end;
  }

  /** Returns whether the permits were given out, so that the work may begin. */
  public boolean granted() {
    return decision.allowed();
  }

  /**
   * Returns the decision on the permits. The retry-after of a refusal is the time after which they
   * fit if no seat is given back before, and none renewed.
   */
  public Decision decision() {
    return decision;
  }

  /** Returns whether the seat is still this holder's: granted, not given back, and not lost. */
  public boolean isHeld() {
    return heldNanos() > 0;
  }

  /**
   * Returns for how many nanoseconds the seat is held if it is not renewed; 0 if it is not held.
   */
  public long heldNanos() {
    return state == State.HELD ? Math.max(0, seats.leftNanos(end)) : 0;
  }

  /**
   * Renews the seat: from now on it is held for another hold. To be called before {@link
   * #heldNanos} is over, for example after a third of the hold, so that one call may fail.
   *
   * @return whether it is held; once false, always false. If the store does not answer, whether it
   *     is held for the rest of its time
   */
  public boolean renew() {
    return renewAsync().join();
  }

  /** Renews the seat like {@link #renew}, without waiting for the store. Never fails. */
  public CompletableFuture<Boolean> renewAsync() {
    if (state != State.HELD) {
      return CompletableFuture.completedFuture(false);
    }
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    seats.renew(
        fingerprint,
        permits,
        decision,
        (result, next) -> {
          if (result == Renewal.RENEWED) {
            end = next.nanos() > end.nanos() ? next : end;
          } else if (result == Renewal.LOST) {
            boolean unused = STATE.compareAndSet(this, State.HELD, State.LOST);
          }
          held.complete(isHeld());
        });
    return held;
  }

  /**
   * Gives the permits back, once: a second call does nothing, and so does a call for a seat that is
   * lost or was refused.
   *
   * @return whether they were given back
   */
  public boolean release() {
    if (!seats.answersNow()) {
      return releaseAsync().join();
    }
    return STATE.compareAndSet(this, State.HELD, State.RELEASED)
        && seats.releaseNow(fingerprint, permits, decision);
  }

  /** Gives the permits back like {@link #release}, without waiting for the store. Never fails. */
  public CompletableFuture<Boolean> releaseAsync() {
    CompletableFuture<Boolean> given = new CompletableFuture<>();
    if (STATE.compareAndSet(this, State.HELD, State.RELEASED)) {
      seats.release(fingerprint, permits, decision, given::complete);
    } else {
      given.complete(false);
    }
    return given;
  }

  /** Gives the permits back, as {@link #release} does. */
  @Override
  public void close() {
    boolean unused = release();
  }
}
