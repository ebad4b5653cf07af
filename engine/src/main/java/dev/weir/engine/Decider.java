package dev.weir.engine;

import dev.weir.rules.Request;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Decides requests by rules: an {@link Engine} in this process, or a service that is asked over the
 * network. Middleware is written against this face. Must be safe for use by many threads.
 *
 * <p>Every method hands its answer to a callback, exactly once: before it returns where all limits
 * are counted in this process, else later and on a thread that must not be blocked. No method
 * fails: trouble is an answer with a reason.
 */
public interface Decider {
  /** Decides a request now. One that cannot be decided gets an answer with an error. */
  void decide(Request request, Consumer<? super Answer> done);

  /** Says what {@link #decide} would answer, and charges nothing. */
  void peek(Request request, Consumer<? super Answer> done);

  /**
   * Gives back what a request was charged, for example because it turned out to be one that does
   * not count. Only what certainly still counts is given back, and nothing of limits that have
   * changed in the meantime, so this never admits too much.
   *
   * @param answer the one that {@link #decide} or {@link #enqueue} gave to this request; to be
   *     given back at most once
   * @param done is given the number of permits, of all descriptors together
   */
  void refund(Request request, Answer answer, LongConsumer done);

  /**
   * Has a refused request wait for its turn, if all rules that refuse it say so by {@code on_limit}
   * and there is room in their queues; otherwise it stays refused, which {@code done} hears at
   * once.
   *
   * <p>Requests for one key of a rule wait in one queue, in the order in which they came, and who
   * asks for that key meanwhile is refused or waits behind them. A request that waits is not
   * charged: the first in the queue asks again after its retry-after. A request is answered when it
   * is admitted, when it has become clear that it would have to wait for too long, or when its time
   * is over.
   *
   * @param refused the answer of {@link #decide} to this request
   * @param maxWaitNanos the most it can wait, at least 0; {@link Answer#maxWaitNanos} bounds it too
   * @param done is given an answer that admits it, or the last one that refused it
   */
  Ticket enqueue(Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done);
}
