package dev.weir.grpc;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import dev.weir.rules.Request;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A call's path to its decision: it is decided, or waits in a queue if its rules have one, and is
 * answered or leaves. A call that leaves is not charged: an earlier charge is given back. Safe for
 * use by many threads.
 */
final class Turn {
  private enum State {
    ASKING,
    /** The state in which the answer comes later, on another thread. */
    WAITING,
    ANSWERED,
    LEFT
  }

  private final Decider decider;
  private final Request request;
  private final LongSupplier maxWaitNanos;
  private final Consumer<? super Answer> late;

  // Guarded by this.
  private State state = State.ASKING;
  private @Nullable Answer answer;
  private Ticket ticket = Ticket.USED;

  /**
   * @param maxWaitNanos returns the time for which the call may still wait in a queue; called when
   *     it is refused
   * @param late receives an answer that comes after {@link #decide} has returned, on a thread that
   *     must not be blocked
   */
  Turn(Decider decider, Request request, LongSupplier maxWaitNanos, Consumer<? super Answer> late) {
    this.decider = decider;
    this.request = request;
    this.maxWaitNanos = maxWaitNanos;
    this.late = late;
  }

  /**
   * Decides the call. Returns the answer if it is there at once; null if it comes later, or the
   * call left.
   */
  @Nullable Answer decide() {
    decider.decide(request, this::decided);
    synchronized (this) {
      if (state == State.LEFT) {
        return null;
      }
      state = answer == null ? State.WAITING : State.ANSWERED;
      return answer;
    }
  }

  /**
   * Leaves.
   *
   * @return whether the call had no answer yet; it gets none any more
   */
  boolean leave() {
    Ticket left;
    Answer unheard;
    synchronized (this) {
      if (state == State.ANSWERED || state == State.LEFT) {
        return false;
      }
      state = State.LEFT;
      left = ticket;
      unheard = answer;
    }
    left.leave();
    if (unheard != null) {
      giveBack(unheard);
    }
    return true;
  }

  /** Gives back the charge of an answer, once, because the call is not served. */
  void giveBack(Answer charged) {
    if (charged.allowed()) {
      decider.refund(request, charged, permits -> {});
    }
  }

  private void decided(Answer first) {
    long wait = first.allowed() ? 0 : Math.min(first.maxWaitNanos(), maxWaitNanos.getAsLong());
    if (wait > 0) {
      standInLine(first, wait);
    } else {
      settled(first);
    }
  }

  private void standInLine(Answer refused, long wait) {
    Ticket drawn = decider.enqueue(request, refused, wait, this::settled);
    boolean gone;
    synchronized (this) {
      ticket = drawn;
      gone = state == State.LEFT;
    }
    if (gone) {
      drawn.leave();
    }
  }

  private void settled(Answer last) {
    State before;
    synchronized (this) {
      before = state;
      if (before == State.ASKING) {
        answer = last;
      } else if (before == State.WAITING) {
        state = State.ANSWERED;
      }
    }
    if (before == State.WAITING) {
      late.accept(last);
    } else if (before == State.LEFT) {
      giveBack(last);
    }
  }
}
