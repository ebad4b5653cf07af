package dev.weir.engine.load;

import dev.weir.LoadSignal;
import java.util.concurrent.atomic.LongAdder;

/**
 * The number of requests in flight, as a share of the most that can be served, for elastic rules.
 * Safe for use by many threads.
 */
public final class InFlightLoad implements LoadSignal {
  private final long full;
  private final LongAdder inFlight = new LongAdder();

  /**
   * Creates a signal that begins at 0.
   *
   * @param full the number of requests in flight at full load, at least 1
   * @throws IllegalArgumentException if it is less
   */
  public InFlightLoad(long full) {
    if (full < 1) {
      throw new IllegalArgumentException("full: " + full + " (expected: at least 1)");
    }
    this.full = full;
  }

  /** Counts requests that begin, or, with a negative number, requests that end. */
  public void add(long requests) {
    inFlight.add(requests);
  }

  @Override
  public double load() {
    return (double) inFlight.sum() / full;
  }
}
