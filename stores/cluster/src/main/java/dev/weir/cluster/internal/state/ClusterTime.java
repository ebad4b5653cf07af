package dev.weir.cluster.internal.state;

import dev.weir.Ticker;

/**
 * The time of a group on this member: that of its log. Safe for use by many threads.
 *
 * <p>It never runs fast. The difference between the stamps of two entries is at most the time that
 * has passed between their stampings: within a term by one monotonic clock; at the beginning of a
 * term it is counted from the last entry that was applied here, by the time since then, which is
 * after that entry was stamped. So a window of this time is never shorter than a real one, whatever
 * the wall clocks say, and whichever member leads.
 */
public final class ClusterTime {
  private static final long NANOS_PER_MICRO = 1_000;

  private final Ticker ticker;
  private boolean begun;
  private long appliedNanos;
  private long appliedAtNanos;
  private long term = -1;
  private long baseNanos;
  private long baseAtNanos;

  /**
   * Creates the time.
   *
   * @param ticker monotonic; if the log is empty, its time is the log's first
   */
  public ClusterTime(Ticker ticker) {
    this.ticker = ticker;
  }

  /**
   * Returns the instant of an entry that this member appends as the leader of a term: whole
   * microseconds. All entries of earlier terms have been applied here.
   */
  synchronized long stamp(long ofTerm) {
    long now = ticker.nanos();
    if (ofTerm != term) {
      term = ofTerm;
      baseNanos = begun ? appliedNanos : micros(now);
      baseAtNanos = begun ? appliedAtNanos : now;
    }
    return baseNanos + micros(Math.max(0, now - baseAtNanos));
  }

  private static long micros(long nanos) {
    return nanos - Math.floorMod(nanos, NANOS_PER_MICRO);
  }

  /**
   * Notes that an entry is applied.
   *
   * @return the instant at which to decide it: its stamp, or that of an earlier entry if that is
   *     later
   */
  synchronized long apply(long stampNanos) {
    appliedNanos = begun ? Math.max(appliedNanos, stampNanos) : stampNanos;
    appliedAtNanos = ticker.nanos();
    begun = true;
    return appliedNanos;
  }

  /** Continues from an image of a log whose last entry was decided at an instant. */
  public synchronized void restore(long nanos) {
    appliedNanos = nanos;
    appliedAtNanos = ticker.nanos();
    begun = true;
    term = -1;
  }

  /** Returns the instant of the last entry that was applied. */
  public synchronized long appliedNanos() {
    return appliedNanos;
  }

  /** Returns about the stamp that an entry would get now; nothing may be admitted by it. */
  public synchronized long nowNanos() {
    return begun
        ? appliedNanos + micros(Math.max(0, ticker.nanos() - appliedAtNanos))
        : micros(ticker.nanos());
  }
}
