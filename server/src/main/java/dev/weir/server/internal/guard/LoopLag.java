package dev.weir.server.internal.guard;

import dev.weir.Ticker;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The detection of an event loop with so much work that the requests it reads have waited too long.
 * Confined to its loop.
 */
public final class LoopLag {
  /*
   * When is a loop overloaded, and why then? A task that is due every 20 ms, the beat, runs once a
   * turn, after everything that the loop's clients have sent. So the beat is as late as the answers
   * to the clients. If the beat is later than the longest wait allowed, the turn is bad. But not
   * every bad turn is overload: loading a class, a garbage collection, or a machine without a free
   * processor delay a loop once, and the requests that arrived meanwhile can still be decided.
   * Overload is work that queues up again and again. So two conditions must hold:
   *
   *  - The turn was bad because of its work: the loop had at least 16 requests to decide in it.
   *    Fewer requests cannot take that long by their number.
   *  - Lately there were at least two more such turns than good ones. A good turn cancels a bad
   *    one, and at most four bad turns are kept. So a few beats after a backlog is gone, none is
   *    left.
   *
   * Overload is thus detected in the third bad turn in a row. A request that is read in that turn,
   * or in a later one, more than the longest wait after the beat was due, is refused. A backlog
   * that one stall has left is worked off. A flood of commands without a decision, such as PING, is
   * no reason to refuse: the few requests besides it are decided late.
   *
   * Does an idle loop beat? No: the beat would only wake its thread, fifty times a second. It stops
   * after a turn without requests, once no bad turn is left: then there is nothing to refuse and no
   * count to lower. The next request starts it again, and the first turn is measured from that
   * request on: a loop that was idle was not behind.
   */

  /** The time between two beats of a loop. */
  static final long BEAT_MILLIS = 20;

  /** The requests in a turn from which its lateness is attributed to its work. */
  public static final int MIN_ASKED = 16;

  /** The excess of bad turns over good ones from which late requests are refused. */
  static final int BAD_TURNS = 2;

  /** The most bad turns that are kept. */
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

  /** Makes a lag whose first beat is due {@link #BEAT_MILLIS} from now; the caller beats. */
  public LoopLag(long maxWaitNanos, long nowNanos) {
    this(maxWaitNanos, nowNanos, lag -> {});
  }

  /**
   * @param later makes the loop call {@link #beat} once, {@link #BEAT_MILLIS} later
   */
  LoopLag(long maxWaitNanos, long nowNanos, Consumer<? super LoopLag> later) {
    this.maxWaitNanos = maxWaitNanos;
    this.later = later;
    this.lastNanos = nowNanos;
  }

  /** Starts the detection of lag on an event loop, for as long as the loop runs. */
  public static void watch(ScheduledExecutorService loop, ServerSettings settings, Ticker ticker) {
    loop.execute(
        () -> {
          long maxWait = settings.value(Settings.MAX_WAIT).toNanos();
          Consumer<LoopLag> later =
              lag -> {
                ScheduledFuture<?> unused =
                    loop.schedule(
                        new GuardedTask(Loop.LATENESS, () -> lag.beat(ticker.nanos())),
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

  /** Ends a turn. Called by the loop, {@link #BEAT_MILLIS} after it was scheduled. */
  public void beat(long nowNanos) {
    boolean bad = late(nowNanos) && asked >= MIN_ASKED;
    badTurns = bad ? Math.min(badTurns + 1, MAX_BAD_TURNS) : Math.max(badTurns - 1, 0);
    boolean goesOn = asked > 0 || badTurns > 0;
    asked = 0;
    lastNanos = nowNanos;
    beats = false;
    if (goesOn) {
      later.accept(this);
      beats = true; // If scheduling fails, the next request tries again.
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
   * Counts requests that were not counted in a call of {@link #overloaded}.
   *
   * @param questions number of requests, at least 0
   */
  public void count(int questions) {
    asked += questions;
  }

  private boolean late(long nowNanos) {
    return nowNanos - lastNanos - BEAT_NANOS > maxWaitNanos;
  }
}
