package dev.weir.shared;

import dev.weir.Ticker;
import java.util.SplittableRandom;

/**
 * Says whether a shard may be asked. It opens when calls fail one after the other, and closes again
 * when a probe succeeds, so that no request is spent to find out. Safe for use by many threads.
 */
public final class Breaker {
  /*
   * Why by hand, and not by a library? The usual breakers let requests through to find out whether
   * the way is free again, and each of these would wait for its timeout. Here only a probe of the
   * store's own closes the breaker, and a lost connection opens it at once. That is forty lines on
   * the injected ticker, without a dependency.
   */
  /** This many failures in a row are no accident. */
  private static final int FAILURES_TO_OPEN = 3;

  private static final long LEAST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 500_000_000L;

  private final Ticker ticker;
  private volatile boolean open;
  private int failures;
  private long pauseNanos;
  private long probeAtNanos;
  private boolean probing;

  /** Creates an open breaker, to be probed at once: nothing is known of the shard yet. */
  public Breaker(Ticker ticker) {
    this.ticker = ticker;
    open = true;
    pauseNanos = LEAST_PAUSE_NANOS;
    probeAtNanos = ticker.nanos();
  }

  /** Returns whether nothing is to be asked. */
  public boolean isOpen() {
    return open;
  }

  /** Takes note of a call that was answered: it was the last in a row of failures. */
  public synchronized void succeeded() {
    if (!open) {
      failures = 0;
    }
  }

  /** Takes note of a failed call; returns whether the breaker has opened for it. */
  public synchronized boolean failed() {
    return ++failures >= FAILURES_TO_OPEN && opened();
  }

  /** Opens, for a reason that leaves no doubt; returns whether it was closed. */
  public synchronized boolean open() {
    return opened();
  }

  private boolean opened() {
    if (open) {
      return false;
    }
    open = true;
    pauseNanos = LEAST_PAUSE_NANOS;
    probeAtNanos = ticker.nanos() + pauseNanos;
    return true;
  }

  /**
   * Returns whether it is time for a probe, and takes it for the caller alone, who must call {@link
   * #probed}.
   */
  public synchronized boolean takeProbe() {
    if (!open || probing || ticker.nanos() < probeAtNanos) {
      return false;
    }
    probing = true;
    return true;
  }

  /** Takes note of how a probe went; a success closes the breaker. */
  public synchronized void probed(boolean success) {
    probing = false;
    if (success) {
      open = false;
      failures = 0;
      return;
    }
    pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
    // Not all processes at the same moment, which no two see at the same nanosecond.
    long now = ticker.nanos();
    long jitter = new SplittableRandom(now).nextLong(pauseNanos / 2);
    probeAtNanos = now + pauseNanos - jitter;
  }
}
