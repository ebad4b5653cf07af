package dev.weir.cluster.internal.operating;

import dev.weir.Ticker;
import dev.weir.cluster.internal.log.Ledger;
import org.jspecify.annotations.Nullable;

/**
 * The watch over a leader's own disk: it finds out whether another voter has the log on disk
 * sooner, again and again. Confined to one thread, except for {@link #isLate} and {@link
 * #isStalled}.
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

  /** The pause after a hand-over: the lead must not go around where all disks are slow. */
  static final long REST_NANOS = 30_000_000_000L;

  private final Ticker ticker;
  private long sinceNanos;
  private int observations;
  private long firstHere;
  private String first = "";
  private long restsUntilNanos = Long.MIN_VALUE;
  private volatile boolean late;
  private volatile boolean stalled;

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
      stalled = false;
      return;
    }
    long now = ticker.nanos();
    if (observations == 0) {
      sinceNanos = now;
      firstHere = flushed.here();
    }
    observations++;
    first = flushed.first();
    late = observations >= LEAST_OBSERVATIONS && now - sinceNanos >= PATIENCE_NANOS;
    stalled = late && flushed.here() == firstHere;
  }

  /**
   * Returns the voter that should lead instead of this member, or null if none should. After that
   * it returns null for a while, whether or not the voter takes over.
   */
  public @Nullable String successor() {
    long now = ticker.nanos();
    boolean rests = restsUntilNanos != Long.MIN_VALUE && now - restsUntilNanos < 0;
    if (!late || rests) {
      return null;
    }
    restsUntilNanos = now + REST_NANOS;
    return first;
  }

  /** Returns whether this member leads, and its flushes are later than those of another voter. */
  public boolean isLate() {
    return late;
  }

  /** Returns whether it is late and has flushed nothing at all meanwhile: nothing is decided. */
  public boolean isStalled() {
    return stalled;
  }
}
