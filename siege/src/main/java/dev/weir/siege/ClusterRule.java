package dev.weir.siege;

import java.time.Duration;
import java.util.Locale;

/** A rule of a besieged cluster. */
enum ClusterRule {
  /** Each decision is committed by a majority. */
  STRICT("store: shared", 100, Duration.ofSeconds(2)),

  /** Members spend what was committed before. */
  LEASED("store: shared, consistency: leased, sync_interval: 200ms", 100, Duration.ofSeconds(2)),

  /** More permits a day than a siege asks for: all that was charged is known at its end. */
  ACCOUNT("store: shared", 100_000_000, Duration.ofDays(1)),

  /** Lets everybody pass while nothing is decided: a limit that does not hold, to be found out. */
  OPEN("store: shared, on_failure: allow", 20, Duration.ofSeconds(2)),

  /** Counted by each member for itself: a limit that does not hold, to be found out. */
  APART("store: local", 20, Duration.ofSeconds(2));

  /** A rule with a few permits a day: what was asked of it, and what was answered, is known. */
  static final String RATION = "ration";

  static final int RATION_PERMITS = 20;

  private final String options;
  private final int permits;
  private final Duration window;

  ClusterRule(String options, int permits, Duration window) {
    this.options = options;
    this.permits = permits;
    this.window = window;
  }

  /** Returns how many permits of a key there are in a window. */
  int permits() {
    return permits;
  }

  Duration window() {
    return window;
  }

  /** Returns the descriptor's key. */
  String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the rule file. */
  static String file() {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "domain: %s%ndescriptors:%n  - key: %s%n"
                    + "    rate_limit: {unit: day, requests_per_unit: %d, store: shared}%n",
                Guest.DOMAIN,
                RATION,
                RATION_PERMITS));
    for (ClusterRule rule : values()) {
      text.append(
          String.format(
              Locale.ROOT,
              "  - key: %s%n    rate_limit: {window: %dms, requests_per_unit: %d, %s}%n",
              rule.key(),
              rule.window.toMillis(),
              rule.permits,
              rule.options));
    }
    return text.toString();
  }
}
