package dev.weir.server.internal.guard;

import dev.weir.Ticker;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Detects an event loop that has so much work that the requests it reads have waited too long.
 * Confined to its loop.
 */
public final class LoopLag {
  /*
   * When is a loop overloaded, and why then? A task that is due every 20 ms, the beat, runs once a
   * turn, after everything that the loop's clients have sent; so the beat is as late as the clients
   * are served. If it is later than the longest wait allowed, the turn is bad. But not every bad
   * turn is overload: loading a class, a garbage collection, or a machine without a free processor
   * delay a loop once, and the requests that arrived meanwhile can still be decided. Overload is
   * work that queues up again and again. So two conditions must hold:
   *
   *  - The turn was bad because of its work: the loop was asked to decide at least 16 requests in
   *    it. Fewer requests cannot take that long by their number.
   *  - Lately there were at least two more such turns than good ones. A good turn cancels a bad
   *    one, and no more than four are remembered, so a few beats after a backlog is gone all is
   *    forgotten.
   *
   * Overload is thus detected in the third bad turn in a row. A request that is read in that turn,
   * or in a later one, more than the longest wait after the beat was due, is refused. A backlog
   * that one stall has left is worked off. A flood of commands that ask for no decision, such as
   * PING, is no reason to refuse: the few requests beside it are decided late.
   *
   * Does an idle loop beat? No: the beat would only wake its thread, fifty times a second. It stops
   * after a turn in which nothing was asked, once no bad turn is remembered, so that there is
   * nothing to refuse and nothing to forget. The next request starts it again, and the first turn
   * is measured from that request on: a loop that was idle was not behind.
   */

  /** Time between two beats of a loop. */
  static final long BEAT_MILLIS = 20;

  /** Requests in a turn from which its lateness is blamed on its work. */
  public static final int MIN_ASKED = 16;

  /** Excess of bad turns over good ones from which late requests are refused. */
  static final int BAD_TURNS = 2;

  /** Bad turns that are remembered at most. */
  public static final int MAX_BAD_TURNS = 4;

  private static final long BEAT_NANOS = BEAT_MILLIS * 1_000_000L;

  private static final ThreadLocal<LoopLag> HERE =
      ThreadLocal.withInitial(() -> new LoopLag(Long.MAX_VALUE, 0));

  private final long maxWaitNanos;
  private final Consumer<? super LoopLag> later;
  private long lastNanos;
  private long asked;
  private int badTurns;
  private boolean beats = true;

  /** Creates one whose first beat is due {@link #BEAT_MILLIS} from now; the caller beats. */
  public LoopLag(long maxWaitNanos, long nowNanos) {
    this(maxWaitNanos, nowNanos, lag -> {});
  }

  /**
   * @param later has {@link #beat} called once, {@link #BEAT_MILLIS} later, by the loop
   */
  LoopLag(long maxWaitNanos, long nowNanos, Consumer<? super LoopLag> later) {
    this.maxWaitNanos = maxWaitNanos;
    this.later = later;
    this.lastNanos = nowNanos;
  }

  /** Has an event loop detect its lag; it does for as long as it runs. */
  public static void watch(ScheduledExecutorService loop, ServerSettings settings, Ticker ticker) {
    loop.execute(
        () -> {
          long maxWait = settings.value(Settings.MAX_WAIT).toNanos();
          Consumer<LoopLag> later =
              lag -> {
                ScheduledFuture<?> unused =
                    loop.schedule(
                        new Guarded(Loop.LATENESS, () -> lag.beat(ticker.nanos())),
                        BEAT_MILLIS,
                        TimeUnit.MILLISECONDS);
              };
          LoopLag lag = new LoopLag(maxWait, ticker.nanos(), later);
          later.accept(lag);
          here(lag);
        });
  }

  /** Returns the lag of the calling event loop; other threads are never behind. */
  public static LoopLag here() {
    return HERE.get();
  }

  /** Sets the lag of the calling thread. */
  public static void here(LoopLag lag) {
    HERE.set(lag);
  }

  /** Called by the loop, {@link #BEAT_MILLIS} after it was scheduled. */
  public void beat(long nowNanos) {
    boolean bad = late(nowNanos) && asked >= MIN_ASKED;
    badTurns = bad ? Math.min(badTurns + 1, MAX_BAD_TURNS) : Math.max(badTurns - 1, 0);
    boolean goesOn = asked > 0 || badTurns > 0;
    asked = 0;
    lastNanos = nowNanos;
    beats = false;
    if (goesOn) {
      later.accept(this);
      beats = true; // If that has failed, the next request starts it again.
    }
  }

  /**
   * Returns whether the loop is too far behind for the requests that it reads now: they have waited
   * since the beat was due.
   *
   * @param questions number of requests, at least 0
   */
  public boolean overloaded(long nowNanos, int questions) {
    asked += questions;
    if (!beats) {
      lastNanos = nowNanos;
      later.accept(this);
      beats = true;
    }
    return badTurns >= BAD_TURNS && late(nowNanos);
  }

  /**
   * Counts requests as asked that {@link #overloaded} was asked about as none.
   *
   * @param questions number of requests, at least 0
   */
  public void asked(int questions) {
    asked += questions;
  }

  private boolean late(long nowNanos) {
    return nowNanos - lastNanos - BEAT_NANOS > maxWaitNanos;
  }
}
