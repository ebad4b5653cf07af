package dev.weir.siege;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A rule of the soak with a short window, so that its limit is reached all the time.
 *
 * @param permits in a window, the most that is ever in force
 * @param shared whether it is counted in Redis, or in each server on its own
 * @param leaseNanos how long a server may use an allotment
 * @param beyond permits that all servers together may admit by themselves while Redis does not
 *     decide
 * @param options of the rule, besides its limit
 */
record WindowRule(
    String name,
    long permits,
    Duration window,
    boolean shared,
    long leaseNanos,
    long beyond,
    String options) {
  /** The rule whose limit changes during the soak. */
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

  /** Capacity of the bucket that {@code CL.THROTTLE} asks for; it is full again after a window. */
  static final int THROTTLE_BURST = 20;

  /**
   * The bucket that {@code CL.THROTTLE} asks for: full, it admits twice its capacity in a window.
   */
  static final WindowRule THROTTLE =
      new WindowRule("throttle", 2 * THROTTLE_BURST, Duration.ofSeconds(2), true, 0, 0, "");

  /** Returns all that are watched: those of the rule file, and the bucket. */
  static List<WindowRule> watched() {
    return Stream.concat(ALL.stream(), Stream.of(THROTTLE)).toList();
  }

  /** Returns the soak's rule file; with the flapping limit at its full or half value. */
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
