package dev.weir;

import dev.weir.internal.Choice;

/** The accuracy with which processes share a limit through a store. */
public enum Consistency {
  /** The store decides every request. No excess. */
  STRICT,

  /**
   * A process takes permits from the store ahead of need and grants them by itself: an allotment.
   * The store counts them as used for as long as they may be granted, and a window more. No excess;
   * permits that a process holds and does not need are missing elsewhere meanwhile.
   */
  LEASED,

  /**
   * A process decides by the store's last answer, and records there what it has admitted
   * afterwards. The excess is at most what each other process may admit before it reports it:
   * {@code (processes - 1) * max(1, rate * interval)}, where the rate is the quota's and the
   * interval {@link Sharing#syncIntervalNanos()}; twice that for fixed windows and sliding-window
   * counters, whose own bound is two windows'. A process whose report may have been lost counts as
   * one more process.
   */
  APPROXIMATE;

  /** Returns the name used in rule files. */
  public String text() {
    return Choice.text(this);
  }
}
