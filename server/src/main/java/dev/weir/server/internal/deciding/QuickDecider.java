package dev.weir.server.internal.deciding;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import org.jspecify.annotations.Nullable;

/**
 * A decider of requests of one descriptor that one limit in this process decides at once, one after
 * the other, without objects for a request or its answer. Confined to one event loop.
 */
public final class QuickDecider {
  private final GuardedDecider decider;
  private final RequestBatch batch;
  private final RequestTimes times;
  private long begunNanos;

  public QuickDecider(GuardedDecider decider, RequestTimes times) {
    this.decider = decider;
    this.batch = decider.engine().batch(1);
    this.times = times;
  }

  /**
   * Takes a request, in place of the last one; it is not decided yet.
   *
   * @return its limit; null if the request is unusual
   */
  public @Nullable CurrentLimit take(QuickRequest asked) {
    batch.clear();
    begunNanos = times.begin();
    if (!decider.add(
        batch, asked.domain(), asked.keysAndValues(), asked.count(), asked.permits(), begunNanos)) {
      return null;
    }
    CurrentLimit limit = batch.isPlain(0) ? batch.limit(0) : null;
    return limit == null || limit.queue() != null ? null : limit;
  }

  /** Decides the request; the decision is in the only place of the batch, until the next one. */
  public RequestBatch decide() {
    decider.decide(batch);
    times.ended(begunNanos, 1);
    return batch;
  }
}
