package dev.weir.client.internal.seat;

import dev.weir.engine.seats.SeatOutcome;
import dev.weir.shared.Clocks;
import java.util.concurrent.CompletableFuture;

/** One seat that a client holds. Safe for use by many threads. */
public final class KeptSeat {
  /** The states of a seat. */
  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  private final SeatKeeper keeper;
  private final String text;
  private final long holdNanos;
  private final CompletableFuture<Void> lost = new CompletableFuture<>();
  private State state = State.HELD;
  private Clocks.Instant until;
  private long dueNanos;

  private KeptSeat(SeatKeeper keeper, String text, long holdNanos, Clocks.Instant sent) {
    this.keeper = keeper;
    this.text = text;
    this.holdNanos = holdNanos;
    this.until = sent.plus(held());
    this.dueNanos = sent.nanos() + holdNanos / 3;
  }

  /**
   * Returns a seat that was taken, which is renewed from now on.
   *
   * @param text the text of the seat
   * @param holdNanos the time within which it has to be renewed; 0 if it has not
   * @param sent the instant before the request was sent
   */
  public static KeptSeat of(SeatKeeper keeper, String text, long holdNanos, Clocks.Instant sent) {
    KeptSeat seat = new KeptSeat(keeper, text, holdNanos, sent);
    if (holdNanos > 0) {
      keeper.keep(seat);
    }
    return seat;
  }

  /** Returns how long the holder has the seat: less than the service, whose clock may be faster. */
  private long held() {
    return holdNanos - holdNanos / 100;
  }

  String text() {
    return text;
  }

  /** Returns the instant at which it is to be renewed. */
  synchronized long dueNanos() {
    return dueNanos;
  }

  /** Returns how much earlier it may be renewed. */
  long earlyNanos() {
    return holdNanos / 6;
  }

  /** Records that a renewal is sent: the next one is due if that has no answer. */
  synchronized void renewing() {
    dueNanos = keeper.clocks().nanos() + Math.max(1, holdNanos / 6);
  }

  /** Records the answer to a renewal. */
  void renewed(SeatOutcome outcome, Clocks.Instant sent) {
    boolean gone;
    synchronized (this) {
      if (state != State.HELD) {
        return;
      }
      if (outcome == SeatOutcome.DONE) {
        until = sent.plus(held());
        dueNanos = sent.nanos() + holdNanos / 3;
      }
      gone = outcome == SeatOutcome.LOST || keeper.clocks().reached(until);
      state = gone ? State.LOST : state;
    }
    if (gone) {
      keeper.forget(this);
      lost.complete(null);
    }
  }

  /** Returns whether it is held: not given back, not lost, and its end has not passed. */
  public synchronized boolean isHeld() {
    return state == State.HELD && (holdNanos == 0 || !keeper.clocks().reached(until));
  }

  /** Returns a future that completes when the seat is lost; never, if it is given back before. */
  public CompletableFuture<Void> lost() {
    return lost.copy();
  }

  /** Gives it back, once; completes with whether this call did. */
  public CompletableFuture<Boolean> release() {
    synchronized (this) {
      if (state != State.HELD) {
        return CompletableFuture.completedFuture(false);
      }
      state = State.RELEASED;
    }
    return keeper
        .giveBack(this)
        .thenApply(outcome -> outcome == SeatOutcome.DONE)
        .toCompletableFuture();
  }
}
