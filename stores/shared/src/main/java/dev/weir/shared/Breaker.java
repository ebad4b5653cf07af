package dev.weir.shared;

import dev.weir.Ticker;
import dev.weir.internal.Backoff;
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

  private static final Backoff PAUSES_NANOS = new Backoff(20_000_000, 500_000_000);

  private final Ticker ticker;
  private volatile boolean open;
  private int failures;
  private int pauses;
  private long probeAtNanos;
  private boolean probing;

  /**
   * Creates an open breaker, whose first probe is due at once: the state of the shard is not known
   * yet.
   */
  public Breaker(Ticker ticker) {
    this.ticker = ticker;
    open = true;
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
    pauses = 0;
    probeAtNanos = ticker.nanos() + PAUSES_NANOS.longest(pauses);
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
    // Processes must not probe at the same moment; no two read the same nanosecond.
    long now = ticker.nanos();
    probeAtNanos = now + PAUSES_NANOS.random(++pauses, new SplittableRandom(now));
  }
}
