package dev.weir.server;

import org.jspecify.annotations.Nullable;

/**
 * Warns when the key space is almost full: once, and again only after it was below {@value
 * #CALM_PERCENT} %.
 */
final class FullnessWarning {
  static final int WARN_PERCENT = 80;

  /**
   * Below this the warning may come again: lower than the mark for warnings, or it would come and
   * go.
   */
  static final int CALM_PERCENT = 70;

  private final String what;
  private final String settings;
  private boolean warned;

  /**
   * @param what may be full
   * @param settings the settings that bound it
   */
  FullnessWarning(String what, String settings) {
    this.what = what;
    this.settings = settings;
  }

  /** Returns the warning, or null if there is none. */
  @Nullable String warning(int fullPercent) {
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
        + " % full: at 100 % new keys are refused, or share counters if their rule says"
        + " when_full: sketch ("
        + settings
        + ")";
  }
}
