package dev.weir.engine.internal.subjects;

import dev.weir.Reason;
import dev.weir.engine.SubjectMetrics;
import dev.weir.engine.internal.matching.PendingRequest;
import java.util.concurrent.atomic.LongAdder;

/** The counters of an engine for subjects. Safe for use by many threads. */
public final class SubjectCounters {
  final LongAdder findsFailed = new LongAdder();
  final LongAdder loads = new LongAdder();
  final LongAdder late = new LongAdder();
  final LongAdder uncertain = new LongAdder();
  final LongAdder overloaded = new LongAdder();
  public final LongAdder plansMissing = new LongAdder();
  public final LongAdder limitsRefused = new LongAdder();

  /** Counts the limits by which a request was answered although their numbers were not known. */
  public void decided(PendingRequest pending) {
    int unknown = pending.undecided(Reason.UNCERTAIN);
    int crowded = pending.undecided(Reason.OVERLOADED);
    if (unknown + crowded > 0) {
      uncertain.add(unknown);
      overloaded.add(crowded);
    }
  }

  public SubjectMetrics snapshot(long waiting) {
    return new SubjectMetrics(
        waiting,
        findsFailed.sum(),
        loads.sum(),
        late.sum(),
        uncertain.sum(),
        overloaded.sum(),
        plansMissing.sum(),
        limitsRefused.sum());
  }
}
