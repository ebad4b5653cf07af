package dev.weir.engine;

import dev.weir.LoadSignal;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many requests are being served, as a share of those that can be, for elastic rules. Safe for
 * use by many threads.
 */
public final class InFlightLoad implements LoadSignal {
  private final long full;
  private final LongAdder inFlight = new LongAdder();

  /**
   * Creates a signal that begins at 0.
   *
   * @param full how many requests in flight are full load, at least 1
   * @throws IllegalArgumentException if it is less
   */
  public InFlightLoad(long full) {
    if (full < 1) {
      throw new IllegalArgumentException("full: " + full + " (expected: at least 1)");
    }
    this.full = full;
  }

  /** Counts requests that begin, or with a negative number such as end. */
  public void add(long requests) {
    inFlight.add(requests);
  }

  @Override
  public double load() {
    return (double) inFlight.sum() / full;
  }
}
