package dev.weir.server;

import org.jspecify.annotations.Nullable;

/** Warns when the key space is about to be full: once, and again after it was not. */
final class Fullness {
  static final int WARN_PERCENT = 80;

  /** Below this the warning is over: not at the same mark, or it would come and go. */
  static final int CALM_PERCENT = 70;

  private boolean warned;

  /** Returns what to warn of, or null. */
  @Nullable String look(int fullPercent) {
    if (fullPercent < CALM_PERCENT) {
      warned = false;
    }
    if (warned || fullPercent < WARN_PERCENT) {
      return null;
    }
    warned = true;
    return "the key space is "
        + fullPercent
        + " % full: at 100 % new keys are refused, or counted together where their rule says so"
        + " (--max-keys, --max-memory, max_keys)";
  }
}
