package dev.weir.server;

import dev.weir.Ticker;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Tells whether an event loop has so much work that what it reads has waited too long. Confined to
 * its loop.
 */
final class LoopLag {
  /*
   * When is a loop overloaded, and why then? A loop that is to do something every 20 ms, its beat,
   * does it once a turn, after all that its clients have sent; so the beat is as late as they are
   * served. Late by more than it may be, it has a bad turn. But not every bad turn is overload: a
   * class that is loaded, a collection of garbage, a machine that had no processor to give, all hold
   * a loop up once, and whoever asked meanwhile can still be answered. Overload is work that queues
   * up, again and again. So two things must come together:
   *
   *  - The turn was bad for its work: in it the loop was asked at least 16 questions. Fewer do not
   *    take a second by being many.
   *  - There were two such turns more than good ones lately. A good turn makes up for a bad one, and
   *    no more than four are remembered, so a few beats after a backlog is gone all is forgotten.
   *
   * Overload is thus seen in the third bad turn running, and what is read in it, or in a later one,
   * more than the longest wait after the beat was due, is refused. A backlog that one stall has left
   * is worked off. A flood of what asks no question, such as PING, is no reason to refuse: those who
   * do ask beside it are few, and are decided late.
   */

  /** How often a loop is looked at. */
  static final long BEAT_MILLIS = 20;

  /** What a turn must have been asked for its lateness to come of its work. */
  static final int MIN_ASKED = 16;

  /** By how many bad turns outnumber good ones before what comes late is refused. */
  static final int BAD_TURNS = 2;

  /** How many bad turns are remembered at most. */
  static final int MAX_BAD_TURNS = 4;

  private static final long BEAT_NANOS = BEAT_MILLIS * 1_000_000L;

  private static final ThreadLocal<LoopLag> HERE =
      ThreadLocal.withInitial(() -> new LoopLag(Long.MAX_VALUE, 0));

  private final long maxWaitNanos;
  private long lastNanos;
  private long asked;
  private int badTurns;

  LoopLag(long maxWaitNanos, long nowNanos) {
    this.maxWaitNanos = maxWaitNanos;
    this.lastNanos = nowNanos;
  }

  /** Has an event loop looked at for as long as it runs. */
  static void watch(ScheduledExecutorService loop, ServerSettings settings, Ticker ticker) {
    loop.execute(
        () -> {
          long maxWait = settings.value(Setting.MAX_WAIT).toNanos();
          LoopLag lag = new LoopLag(maxWait, ticker.nanos());
          here(lag);
          ScheduledFuture<?> unused =
              loop.scheduleWithFixedDelay(
                  new Guarded(Loop.LATENESS, () -> lag.beat(ticker.nanos())),
                  BEAT_MILLIS,
                  BEAT_MILLIS,
                  TimeUnit.MILLISECONDS);
        });
  }

  /** Returns that of the loop that calls; other threads are never behind. */
  static LoopLag here() {
    return HERE.get();
  }

  /** Sets that of the calling thread. */
  static void here(LoopLag lag) {
    HERE.set(lag);
  }

  /** To be called by the loop, {@link #BEAT_MILLIS} after it was called before. */
  void beat(long nowNanos) {
    boolean bad = late(nowNanos) && asked >= MIN_ASKED;
    badTurns = bad ? Math.min(badTurns + 1, MAX_BAD_TURNS) : Math.max(badTurns - 1, 0);
    asked = 0;
    lastNanos = nowNanos;
  }

  /**
   * Returns whether the loop is too far behind for what it reads now, which has waited since it
   * should have been called.
   *
   * @param questions that are asked, at least 1
   */
  boolean overloaded(long nowNanos, int questions) {
    asked += questions;
    return badTurns >= BAD_TURNS && late(nowNanos);
  }

  private boolean late(long nowNanos) {
    return nowNanos - lastNanos - BEAT_NANOS > maxWaitNanos;
  }
}
