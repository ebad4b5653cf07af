package dev.weir.grpc;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Decider;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.rules.Descriptor;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** A decider that answers at the test's command, in place of an engine. */
class ByHand implements Decider {
  static final Answer ADMITTED = answer(true, 0);

  /** A refusal beyond a limit, where a request may wait for up to ten seconds. */
  static final Answer MAY_WAIT = answer(false, 1_500_000_000L);

  private final Deque<Consumer<? super Answer>> asked = new ArrayDeque<>();
  private final Deque<Consumer<? super Answer>> queue = new ArrayDeque<>();
  int asks;
  int refunds;
  int leaves;
  long maxWaitNanos = -1;

  static Answer answer(boolean allowed, long retryAfterNanos) {
    return Answer.of(allowed, List.of(status("calls", allowed, retryAfterNanos)), null, 1);
  }

  /** Returns the refusal of a request by many policies of one name. */
  static Refusal refusal(String policy, int policies) {
    return Refusal.of(
        new Request(
            "shop", Collections.nCopies(policies, Descriptor.of("method", "shop.Cart/Add")), 1),
        Answer.of(false, Collections.nCopies(policies, status(policy, false, 1_000_000L)), null, 1),
        null);
  }

  private static Status status(String name, boolean allowed, long retryAfterNanos) {
    Policy policy = Policy.builder(Quota.perMinute(2)).name(name).build();
    Decision decision =
        new Decision(
            allowed,
            allowed ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
            name,
            2,
            0,
            retryAfterNanos,
            60_000_000_000L,
            0);
    CurrentLimit limit =
        new CurrentLimit(
            2, RateLimitUnit.MINUTE, name, policy, new QueueBounds(10, 10_000_000_000L));
    return new Status(allowed, null, decision, limit, 0, 60);
  }

  /** Answers the last request. */
  void answer(Answer answer) {
    asked.removeLast().accept(answer);
  }

  /** Answers the request that waits in the queue. */
  void serve(Answer answer) {
    queue.removeLast().accept(answer);
  }

  int waiting() {
    return queue.size();
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    asks++;
    asked.add(done);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    refunds++;
    done.accept(1);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long newMaxWaitNanos, Consumer<? super Answer> done) {
    maxWaitNanos = newMaxWaitNanos;
    queue.add(done);
    return () -> {
      leaves++;
      return queue.remove(done);
    };
  }
}
