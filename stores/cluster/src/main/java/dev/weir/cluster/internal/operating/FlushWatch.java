package dev.weir.cluster.internal.operating;

import dev.weir.Ticker;
import dev.weir.cluster.internal.log.Ledger;

/**
 * The watch over a leader's own disk: it finds out whether another member has the log on disk
 * sooner, again and again. Confined to one thread, except for {@link #isLate}.
 *
 * <p>Nothing is decided before the leader's own flush, even if a majority has flushed. So a group
 * whose leader has a disk that stalls decides a few requests a second, or none, while the others
 * could decide all of them; and heartbeats go on, so no other member is elected.
 */
public final class FlushWatch {
  /** The least observations in a row: fewer could be chance, if this has not run for a while. */
  static final int LEAST_OBSERVATIONS = 10;

  /**
   * The time for which each observation has to be a late one: twice the time after which members
   * elect another leader by default, if they do not hear of theirs.
   */
  static final long PATIENCE_NANOS = 2_000_000_000L;

  private final Ticker ticker;
  private long sinceNanos;
  private int observations;
  private volatile boolean late;

  /**
   * Creates a watch.
   *
   * @param ticker monotonic
   */
  public FlushWatch(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Observes a log; to be called about ten times a second. */
  public void observe(Ledger ledger) {
    Ledger.FlushedIndexes flushed =
        ledger.leads() ? ledger.flushed() : Ledger.FlushedIndexes.NOTHING;
    if (flushed.here() >= flushed.elsewhere()) {
      observations = 0;
      late = false;
      return;
    }
    long now = ticker.nanos();
    if (observations == 0) {
      sinceNanos = now;
    }
    observations++;
    late = observations >= LEAST_OBSERVATIONS && now - sinceNanos >= PATIENCE_NANOS;
  }

  /** Returns whether this member leads, and its flushes are later than those of another member. */
  public boolean isLate() {
    return late;
  }
}
