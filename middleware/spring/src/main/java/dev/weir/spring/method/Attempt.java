package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One call's path to its answer: it is decided and, if it is refused and may wait, waits in the
 * queue. Safe for use by many threads.
 */
final class Attempt {
  /*
   * The caller may give up at any moment: its subscription or its future is cancelled, or its
   * thread is interrupted. Then the charge is given back, also if the answer comes later. So the
   * first action decides: either the caller claims the answer to act on it, or it gives up.
   */
  private final Decider decider;
  private final CallRequest asked;
  private final boolean mayWait;
  private final CompletableFuture<Answer> answer = new CompletableFuture<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile Ticket ticket = Ticket.USED;

  /**
   * Makes an attempt.
   *
   * @param mayWait false to take a refusal at once, whatever the limits allow
   */
  Attempt(Decider decider, CallRequest asked, boolean mayWait) {
    this.decider = decider;
    this.asked = asked;
    this.mayWait = mayWait;
  }

  /**
   * Starts, once. Actions that depend on the answer may run on a thread that must not be blocked.
   */
  CompletableFuture<Answer> begin() {
    decider.decide(asked.request(), this::decided);
    return answer;
  }

  private void decided(Answer first) {
    boolean refused = !first.allowed() && first.error() == null;
    long wait = mayWait && refused ? asked.maxWaitNanos(first) : 0;
    if (wait <= 0 || over.get()) {
      settled(first);
      return;
    }
    ticket = decider.enqueue(asked.request(), first, wait, this::settled);
    if (over.get()) {
      ticket.leave();
    }
  }

  private void settled(Answer last) {
    if (!answer.complete(last)) {
      giveBack(last);
    }
  }

  /** Claims the answer to act on it, once; returns false if the call was given up. */
  boolean claim() {
    return over.compareAndSet(false, true);
  }

  /** Gives the call up, unless its answer was claimed. */
  void giveUp() {
    if (over.compareAndSet(false, true)) {
      if (!answer.cancel(false)) {
        giveBack(answer.join());
      }
      ticket.leave();
    }
  }

  private void giveBack(Answer last) {
    if (last.allowed()) {
      decider.refund(asked.request(), last, permits -> {});
    }
  }
}
