package dev.weir.engine.internal.metrics;

import dev.weir.Charges;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.internal.Histogram;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** The counts of an engine, except those of single rules. Safe for use by many threads. */
public final class EngineCounters {
  public final LongAdder errors = new LongAdder();
  public final LongAdder reloads = new LongAdder();
  public final LongAdder reloadFailures = new LongAdder();
  public final LongAdder resets = new LongAdder();

  private final Histogram times = Histogram.ofRequests();
  private final LongAdder denied = new LongAdder();
  private final LongAdder keySpaceFull = new LongAdder();
  private final LongAdder overloaded = new LongAdder();
  private final LongAdder uncertain = new LongAdder();

  /** Counts a request that was decided. */
  public void decided(boolean allowed, Charges charges) {
    if (!allowed) {
      denied.increment();
    }
    for (int i = 0; i < charges.size(); i++) {
      switch (charges.reason(i)) {
        case KEY_SPACE_FULL -> keySpaceFull.increment();
        case UNCERTAIN -> uncertain.increment();
        default -> {}
      }
    }
  }

  /** Counts requests that were decided, with the time that each of them took. */
  public void took(long nanos, int requests) {
    times.add(nanos, requests);
  }

  /** Counts a request that was answered without being decided. */
  public void overloaded(Answer answer) {
    overloaded.increment();
    if (!answer.allowed()) {
      denied.increment();
    }
  }

  public EngineMetrics snapshot(
      List<RuleMetrics> rules, Store store, long revision, QueueMetrics queues) {
    List<Long> counts = times.counts();
    long whole = overloaded.sum();
    long requests = whole + counts.stream().mapToLong(Long::longValue).sum();
    return new EngineMetrics(
        rules,
        requests,
        denied.sum(),
        errors.sum(),
        counts,
        times.bounds(),
        times.sum(),
        keySpaceFull.sum(),
        whole,
        uncertain.sum(),
        store.keys(),
        store.maxKeys(),
        store.bytes(),
        store.maxBytes(),
        reloads.sum(),
        reloadFailures.sum(),
        revision,
        queues);
  }
}
