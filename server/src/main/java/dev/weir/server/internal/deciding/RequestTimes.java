package dev.weir.server.internal.deciding;

import dev.weir.Ticker;
import dev.weir.internal.Histogram;

/**
 * The times that a protocol's requests for decisions take. It allocates nothing. Safe for use by
 * many threads.
 */
public final class RequestTimes {
  private final Histogram times;
  private final Ticker ticker;

  /**
   * @param times receives the measured times
   */
  public RequestTimes(Histogram times, Ticker ticker) {
    this.times = times;
    this.ticker = ticker;
  }

  /** Returns the clock by which the times are measured. */
  public Ticker ticker() {
    return ticker;
  }

  /** Returns the time at which a request begins, for {@link #ended}. */
  public long begin() {
    return ticker.nanos();
  }

  /**
   * Counts requests that were read together and are answered together.
   *
   * @param begunNanos from {@link #begin}
   */
  public void ended(long begunNanos, int requests) {
    times.add(ticker.nanos() - begunNanos, requests);
  }
}
