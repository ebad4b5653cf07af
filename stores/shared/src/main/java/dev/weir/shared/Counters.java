package dev.weir.shared;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** The counters of a store. Safe for use by many threads. */
public final class Counters {
  final LongAdder calls = new LongAdder();
  final LongAdder decided = new LongAdder();
  final LongAdder merged = new LongAdder();
  public final LongAdder held = new LongAdder();
  public final LongAdder onFailureLocal = new LongAdder();
  final LongAdder late = new LongAdder();
  final LongAdder burned = new LongAdder();
  public final LongAdder clockSteps = new LongAdder();
  private final Map<Failure, LongAdder> failures = new EnumMap<>(Failure.class);
  private final Map<Loss, LongAdder> losses = new EnumMap<>(Loss.class);

  /** Creates counters at zero. */
  public Counters() {
    for (Failure failure : Failure.values()) {
      failures.put(failure, new LongAdder());
    }
    for (Loss loss : Loss.values()) {
      losses.put(loss, new LongAdder());
    }
  }

  public void failed(Failure failure, int charges) {
    Objects.requireNonNull(failures.get(failure)).add(charges);
  }

  /** Counts losses of a kind. */
  public void lost(Loss loss, long count) {
    Objects.requireNonNull(losses.get(loss)).add(count);
  }

  /** Returns a snapshot, with the state of the link to the store. */
  SharedMetrics metrics(String kind, boolean available, long queued) {
    return new SharedMetrics(
        kind,
        available,
        calls.sum(),
        decided.sum(),
        merged.sum(),
        held.sum(),
        onFailureLocal.sum(),
        failures(),
        late.sum(),
        burned.sum(),
        queued,
        clockSteps.sum(),
        losses());
  }

  public Map<String, Long> failures() {
    Map<String, Long> counts = new LinkedHashMap<>();
    failures.forEach((failure, count) -> counts.put(failure.text(), count.sum()));
    return counts;
  }

  private Map<String, Long> losses() {
    Map<String, Long> counts = new LinkedHashMap<>();
    losses.forEach((loss, count) -> counts.put(loss.text(), count.sum()));
    return counts;
  }
}
