package dev.weir.shared;

import dev.weir.Ticker;
import java.util.SplittableRandom;

/**
 * A circuit breaker for the calls to one shard. It opens when calls fail one after the other, and
 * closes again when a probe succeeds, so that no request is spent on finding out. Safe for use by
 * many threads.
 */
public final class Breaker {
  /*
   * Why own code, and not a library? The usual breakers let requests through to find out whether
   * the shard answers again, and each of these would wait for its timeout. Here only a probe of the
   * store's own closes the breaker, and a lost connection opens it at once. That needs forty lines
   * on the injected ticker, and no dependency.
   */
  /** The failures in a row after which the breaker opens; so many are no accident. */
  private static final int FAILURES_TO_OPEN = 3;

  private static final long LEAST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 500_000_000L;

  private final Ticker ticker;
  private volatile boolean open;
  private int failures;
  private long pauseNanos;
  private long probeAtNanos;
  private boolean probing;

  /**
   * Creates an open breaker, whose first probe is due at once: the state of the shard is not known
   * yet.
   */
  public Breaker(Ticker ticker) {
    this.ticker = ticker;
    open = true;
    pauseNanos = LEAST_PAUSE_NANOS;
    probeAtNanos = ticker.nanos();
  }

  /** Returns true if no call may be made. */
  public boolean isOpen() {
    return open;
  }

  /** Notes a call that was answered, which ends a row of failures. */
  public synchronized void succeeded() {
    if (!open) {
      failures = 0;
    }
  }

  /** Notes a failed call; returns whether it has opened the breaker. */
  public synchronized boolean failed() {
    return ++failures >= FAILURES_TO_OPEN && opened();
  }

  /** Opens the breaker at once, after an unambiguous failure; returns whether it was closed. */
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
   * Returns whether it is time for a probe. If so, only this caller makes it, and must call {@link
   * #probed}.
   */
  public synchronized boolean takeProbe() {
    if (!open || probing || ticker.nanos() < probeAtNanos) {
      return false;
    }
    probing = true;
    return true;
  }

  /** Notes the result of a probe; a success closes the breaker. */
  public synchronized void probed(boolean success) {
    probing = false;
    if (success) {
      open = false;
      failures = 0;
      return;
    }
    pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
    // Processes must not probe at the same moment; no two read the same nanosecond.
    long now = ticker.nanos();
    long jitter = new SplittableRandom(now).nextLong(pauseNanos / 2);
    probeAtNanos = now + pauseNanos - jitter;
  }
}
