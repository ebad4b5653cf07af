package dev.weir.siege;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A rule of the soak with a short window, so that its limit is reached all the time.
 *
 * @param permits in a window, the most that is ever in force
 * @param shared whether it is counted in Redis, or in each server for itself
 * @param leaseNanos for how long a server may admit what it was granted before
 * @param beyond permits that servers may admit by themselves, in all, while Redis cannot be asked
 * @param options of the rule, beside its limit
 */
record WindowRule(
    String name,
    long permits,
    Duration window,
    boolean shared,
    long leaseNanos,
    long beyond,
    String options) {
  /** The rule whose limit changes while it is asked for. */
  private static final String FLAPPING = "flapping";

  static final WindowRule STRICT =
      new WindowRule("strict", 40, Duration.ofSeconds(2), true, 0, 0, "store: redis");

  static final List<WindowRule> ALL =
      List.of(
          STRICT,
          new WindowRule(
              "leased",
              60,
              Duration.ofSeconds(3),
              true,
              Duration.ofMillis(200).toNanos(),
              0,
              "store: redis, consistency: leased, sync_interval: 200ms"),
          new WindowRule(
              "fallback",
              40,
              Duration.ofSeconds(2),
              true,
              0,
              40,
              "store: redis, on_failure: local, local_share: 50%"),
          new WindowRule(FLAPPING, 40, Duration.ofSeconds(2), true, 0, 0, "store: redis"),
          new WindowRule("here", 30, Duration.ofSeconds(1), false, 0, 0, "store: local"),
          new WindowRule(
              "log",
              20,
              Duration.ofSeconds(1),
              false,
              0,
              0,
              "store: local, algorithm: sliding-window-log"));

  /** Returns the soak's rule file; the flapping limit is whole or half. */
  static String file(boolean whole) {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "domain: %s%ndescriptors:%n  - key: %s%n"
                    + "    rate_limit: {unit: day, requests_per_unit: %d, store: local}%n",
                Guest.DOMAIN,
                Ration.RULE,
                Ration.PERMITS));
    for (WindowRule rule : ALL) {
      long permits = rule.name.equals(FLAPPING) && !whole ? rule.permits / 2 : rule.permits;
      text.append(
          String.format(
              Locale.ROOT,
              "  - key: %s%n    rate_limit: {window: %dms, requests_per_unit: %d, %s}%n",
              rule.name,
              rule.window.toMillis(),
              permits,
              rule.options));
    }
    return text.toString();
  }
}
