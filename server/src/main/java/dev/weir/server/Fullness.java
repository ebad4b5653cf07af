package dev.weir.server;

import org.jspecify.annotations.Nullable;

/** Warns when the key space is about to be full: once, and again after it was not. */
final class Fullness {
  static final int WARN_PERCENT = 80;

  /** Below this the warning is over: not at the same mark, or it would come and go. */
  static final int CALM_PERCENT = 70;

  private final String what;
  private final String settings;
  private boolean warned;

  /**
   * @param what may be full
   * @param settings which of them say how much fits
   */
  Fullness(String what, String settings) {
    this.what = what;
    this.settings = settings;
  }

  /** Returns what to warn of, or null. */
  @Nullable String look(int fullPercent) {
    if (fullPercent < CALM_PERCENT) {
      warned = false;
    }
    if (warned || fullPercent < WARN_PERCENT) {
      return null;
    }
    warned = true;
    return what
        + " is "
        + fullPercent
        + " % full: at 100 % new keys are refused, or counted together where their rule says so ("
        + settings
        + ")";
  }
}
