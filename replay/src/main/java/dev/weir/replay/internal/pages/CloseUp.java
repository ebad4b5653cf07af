package dev.weir.replay.internal.pages;

import dev.weir.replay.internal.judge.Timeline;

/**
 * The minute with the most refusals, second by second, with two minutes before and after it. Time
 * never goes back.
 */
public final class CloseUp {
  private static final long SECOND = 1_000_000_000L;
  private static final int MINUTE = 60;
  private static final int AROUND = 120;
  private static final int SECONDS = MINUTE + 2 * AROUND;

  /** The counts of the latest seconds; each is at its number modulo the length. */
  private final long[] offered = new long[SECONDS];

  private final long[] refused = new long[SECONDS];
  private final long[] tolerated = new long[SECONDS];

  private boolean begun;
  private long second;

  /** The number of requests refused in the minute that ends with the second. */
  private long refusedInMinute;

  private long most;

  /**
   * The last second of the worst minute so far; {@code open} is true while the seconds after it are
   * still to come.
   */
  private long worst;

  private boolean open;

  private Timeline kept = new Timeline(SECONDS, SECOND);

  public void add(long nanos, boolean denied, boolean beyond) {
    long at = Math.floorDiv(nanos, SECOND);
    if (!begun) {
      begun = true;
      second = at;
    }
    if (at > second) {
      advance(at);
    }
    offered[place(second)]++;
    tolerated[place(second)] += beyond ? 1 : 0;
    if (denied) {
      refused[place(second)]++;
      refusedInMinute++;
      if (refusedInMinute > most) {
        most = refusedInMinute;
        worst = second;
        open = true;
      }
    }
  }

  private static int place(long second) {
    return Math.floorMod(second, SECONDS);
  }

  /** Advances to a second; a long silence is skipped as far as it cannot matter. */
  private void advance(long to) {
    long silent = Math.min(to - second, SECONDS);
    for (long i = 0; i < silent; i++) {
      if (open && second == worst + AROUND) {
        keep();
      }
      second++;
      refusedInMinute -= refused[place(second - MINUTE)];
      offered[place(second)] = 0;
      refused[place(second)] = 0;
      tolerated[place(second)] = 0;
    }
    second = to;
  }

  private void keep() {
    open = false;
    kept = new Timeline(SECONDS, SECOND);
    for (long at = worst - MINUTE - AROUND + 1; at <= second; at++) {
      long all = offered[place(at)];
      long denied = refused[place(at)];
      long beyond = tolerated[place(at)];
      if (all > 0) {
        kept.add(at * SECOND, all - denied - beyond, false);
        kept.add(at * SECOND, beyond, false, true);
        kept.add(at * SECOND, denied, true);
      }
    }
  }

  /** Returns the requests by seconds; empty if none was refused. */
  Timeline timeline() {
    if (open) {
      keep();
    }
    return kept;
  }

  /** Returns the end of the worst minute. */
  long endNanos() {
    return (worst + 1) * SECOND;
  }

  /** Returns the number of requests refused in the worst minute. */
  long refused() {
    return most;
  }
}
