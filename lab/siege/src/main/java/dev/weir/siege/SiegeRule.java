package dev.weir.siege;

import dev.weir.siege.cluster.Ration;
import dev.weir.siege.guests.Guest;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A rule of besieged servers. Its window is short, so that its limit is reached all the time.
 *
 * @param name the descriptor's key
 * @param permits the permits of a key in a window, the most that are ever in force
 * @param options the options of the rule, besides its limit
 * @param shared true if it is counted for all servers; false if each server counts on its own
 * @param leaseNanos the time for which a server may use an allotment
 * @param beyond the permits that all servers together may admit by themselves while the store does
 *     not decide
 */
public record SiegeRule(
    String name,
    long permits,
    Duration window,
    String options,
    boolean shared,
    long leaseNanos,
    long beyond) {

  /** Returns a rule that is counted for all servers. */
  public static SiegeRule shared(String name, long permits, Duration window, String options) {
    return new SiegeRule(name, permits, window, options, true, 0, 0);
  }

  /** Returns a rule that each server counts on its own. */
  public static SiegeRule local(String name, long permits, Duration window, String options) {
    return new SiegeRule(name, permits, window, options, false, 0, 0);
  }

  /** Returns this rule with half of its permits. */
  public SiegeRule half() {
    return new SiegeRule(name, permits / 2, window, options, shared, leaseNanos, beyond);
  }

  /**
   * Returns a rule file.
   *
   * @param rationPermits the permits of a key per day, for the rule of {@link Ration rations}
   * @param rationOptions the options of that rule
   * @param rules all other rules
   */
  public static String file(int rationPermits, String rationOptions, List<SiegeRule> rules) {
    StringBuilder text = new StringBuilder("domain: " + Guest.DOMAIN + "\ndescriptors:\n");
    append(text, Ration.RULE, "unit: day", rationPermits, rationOptions);
    for (SiegeRule rule : rules) {
      String window = "window: " + rule.window.toMillis() + "ms";
      append(text, rule.name, window, rule.permits, rule.options);
    }
    return text.toString();
  }

  private static void append(
      StringBuilder text, String key, String window, long permits, String options) {
    text.append(
        String.format(
            Locale.ROOT,
            "  - key: %s%n    rate_limit: {%s, requests_per_unit: %d, %s}%n",
            key,
            window,
            permits,
            options));
  }

  @Override
  public String toString() {
    return name;
  }
}
