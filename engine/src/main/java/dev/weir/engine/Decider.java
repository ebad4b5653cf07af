package dev.weir.engine;

import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A component that decides requests by rules: an {@link Engine} in this process, or a service that
 * is called over the network. Middleware is written against this interface. Must be safe for use by
 * many threads.
 *
 * <p>Every method passes its answer to a callback, exactly once: before it returns if all limits
 * are counted in this process, else later and on a thread that must not be blocked. No method
 * fails: an error is an answer with a reason.
 */
public interface Decider {
  /** Decides a request now. One that cannot be decided gets an answer with an error. */
  void decide(Request request, Consumer<? super Answer> done);

  /** Determines the answer that {@link #decide} would give, and charges nothing. */
  void peek(Request request, Consumer<? super Answer> done);

  /**
   * Gives back the permits that a request was charged, for example because it turned out not to
   * count. Only permits that certainly still count are given back, and none of limits that have
   * changed in the meantime, so this never admits too much.
   *
   * @param answer the answer of {@link #decide} or {@link #enqueue} to this request; to be given
   *     back at most once
   * @param done receives the number of permits, of all descriptors together
   */
  void refund(Request request, Answer answer, LongConsumer done);

  /**
   * Returns the seats that an admitted request has taken, of limits at the same time ({@link
   * dev.weir.Algorithm#CONCURRENCY}); null if it has taken none. They are lost if nobody renews
   * them. To be called at most once for an answer. Default: null, for deciders whose requests take
   * no seats that could be given back.
   *
   * @param answer the answer of {@link #decide} or {@link #enqueue} to this request
   */
  default @Nullable TakenSeat seat(Request request, Answer answer) {
    return null;
  }

  /**
   * Queues a refused request to wait for its turn, if all rules that refuse it allow this by {@code
   * on_limit} and there is room in their queues; otherwise it stays refused, and {@code done}
   * receives that at once.
   *
   * <p>Requests for one key of a rule wait in one queue, in the order in which they came. Other
   * requests for that key meanwhile are refused or wait behind them. A request that waits is not
   * charged: the first in the queue is decided again after its retry-after. A request is answered
   * when it is admitted, when it has become clear that it would have to wait for too long, or when
   * its time is over.
   *
   * @param refused the answer of {@link #decide} to this request
   * @param maxWaitNanos the most it can wait, at least 0; {@link Answer#maxWaitNanos} bounds it too
   * @param done receives an answer that admits it, or the last one that refused it
   */
  Ticket enqueue(Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done);
}
