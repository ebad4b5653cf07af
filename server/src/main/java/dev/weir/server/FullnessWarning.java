package dev.weir.server;

import java.util.Optional;

/**
 * The warning that the key space is almost full. It is given once, and again only after the key
 * space was below {@value #CALM_PERCENT} %.
 */
final class FullnessWarning {
  static final int WARN_PERCENT = 80;

  /**
   * The fullness below which the warning may come again. It is lower than the mark for warnings:
   * otherwise the warning would come and go.
   */
  static final int CALM_PERCENT = 70;

  private final String what;
  private final String settings;
  private boolean warned;

  /**
   * @param what the part that may be full
   * @param settings the settings that bound it
   */
  FullnessWarning(String what, String settings) {
    this.what = what;
    this.settings = settings;
  }

  /** Returns the warning, if there is one. */
  Optional<String> warning(int fullPercent) {
    if (fullPercent < CALM_PERCENT) {
      warned = false;
    }
    if (warned || fullPercent < WARN_PERCENT) {
      return Optional.empty();
    }
    warned = true;
    return Optional.of(
        what
            + " is "
            + fullPercent
            + " % full: at 100 % new keys are refused, or share counters if their rule says"
            + " when_full: sketch ("
            + settings
            + ")");
  }
}
