package dev.weir.replay;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.ForwardingDecider;
import dev.weir.rules.Request;
import java.util.function.Consumer;

/**
 * A decider that records the requests that another one decides. A request that waits for its turn
 * was decided before, so it is recorded once. Peeks and refunds are not recorded. Safe for use by
 * many threads.
 */
public final class RecordingDecider extends ForwardingDecider {
  private final RecordedTraffic traffic;

  /**
   * @param decider the decider of the requests
   * @param traffic the recording of the requests
   */
  public RecordingDecider(Decider decider, RecordedTraffic traffic) {
    super(decider);
    this.traffic = traffic;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    traffic.add(request);
    super.decide(request, done);
  }
}
