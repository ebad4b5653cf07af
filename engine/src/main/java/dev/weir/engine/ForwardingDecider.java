package dev.weir.engine;

import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A decider that forwards everything to another one. A decider that differs from another in a few
 * respects extends it and overrides those methods. It is as safe for use by many threads as the
 * other decider.
 */
public abstract class ForwardingDecider implements Decider {
  private final Decider delegate;

  /** Creates a decider that forwards to another one. */
  protected ForwardingDecider(Decider delegate) {
    this.delegate = delegate;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    delegate.decide(request, done);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    delegate.peek(request, done);
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    delegate.refund(request, answer, done);
  }

  @Override
  public @Nullable TakenSeat seat(Request request, Answer answer) {
    return delegate.seat(request, answer);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return delegate.enqueue(request, refused, maxWaitNanos, done);
  }
}
