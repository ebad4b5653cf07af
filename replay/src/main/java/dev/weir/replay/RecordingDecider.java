package dev.weir.replay;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import dev.weir.rules.Request;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A decider that records the requests that another one decides. A request that waits for its turn
 * was decided before, so it is recorded once. Peeks and refunds are not recorded. Safe for use by
 * many threads.
 */
public final class RecordingDecider implements Decider {
  private final Decider decider;
  private final RecordedTraffic traffic;

  /**
   * @param decider the decider of the requests
   * @param traffic the recording of the requests
   */
  public RecordingDecider(Decider decider, RecordedTraffic traffic) {
    this.decider = decider;
    this.traffic = traffic;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    traffic.add(request);
    decider.decide(request, done);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    decider.peek(request, done);
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    decider.refund(request, answer, done);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return decider.enqueue(request, refused, maxWaitNanos, done);
  }
}
