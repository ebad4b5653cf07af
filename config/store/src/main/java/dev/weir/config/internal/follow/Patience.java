package dev.weir.config.internal.follow;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.internal.Backoff;
import java.util.concurrent.ThreadLocalRandom;

/** The pauses and the deadline of a call that is repeated because other writers are in its way. */
public final class Patience {
  /** The deadline: longer than a burst of updates of several servers; no caller waits longer. */
  public static final long MAX_NANOS = 10_000_000_000L;

  private static final Backoff PAUSES_NANOS = new Backoff(2_000_000, 64_000_000);

  private final Object database;
  private final Ticker ticker;
  private final long sinceNanos;
  private int pauses;

  /**
   * Starts the time.
   *
   * @param database its address, for messages
   */
  public Patience(Object database, Ticker ticker) {
    this.database = database;
    this.ticker = ticker;
    sinceNanos = ticker.nanos();
  }

  /** Throws if there is no time left. */
  public void check() {
    if (ticker.nanos() - sinceNanos > MAX_NANOS) {
      throw new ConfigException(
          Kind.UNAVAILABLE,
          database + ": no turn within 10 s (expected: fewer updates at once, or a faster server)");
    }
  }

  /**
   * Waits for a random time, longer at each call, so that two callers do not meet again; throws if
   * there is no time left.
   */
  public void pause() {
    check();
    try {
      ticker.sleep(PAUSES_NANOS.random(pauses++, ThreadLocalRandom.current()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(database, e);
    }
  }

  public static ConfigException interrupted(Object database, InterruptedException e) {
    return new ConfigException(
        Kind.UNAVAILABLE, database + ": interrupted (expected: time to wait)", e);
  }
}
