package dev.weir.engine;

/**
 * The settings of an engine's decisions.
 *
 * @param shadowMode true if every request passes, while the statuses still show refusals
 * @param nearLimitPercent the share of a limit from which on a permit counts as near it, 0 to 100
 * @param maxDescriptors the most descriptors a request may have
 * @param maxEntries the most entries a descriptor may have
 * @param maxKeyLength the most UTF-16 code units that a key, a value or a domain may have
 * @param maxWaiting the most requests that may wait in queues at a time, for all keys together
 * @param maxLeases the most leases and refundable charges that {@link Leases} remembers at a time;
 *     0 if nothing is lent. If anything is, permits of rules with {@code consistency: leased} count
 *     for a sync interval longer than the rule's window
 */
public record EngineSettings(
    boolean shadowMode,
    int nearLimitPercent,
    int maxDescriptors,
    int maxEntries,
    int maxKeyLength,
    int maxWaiting,
    int maxLeases) {

  /**
   * The default settings. Envoy sends a handful of descriptors; these leave room and still bound
   * one request's work.
   */
  public static final EngineSettings DEFAULTS = new EngineSettings(false, 80, 128, 32, 4096, 1_000);

  /** The largest value of {@code maxLeases}: each takes some hundreds of bytes. */
  public static final int MAX_LEASES = 1 << 24;

  /** Creates the settings of an engine that lends nothing. */
  public EngineSettings(
      boolean shadowMode,
      int nearLimitPercent,
      int maxDescriptors,
      int maxEntries,
      int maxKeyLength,
      int maxWaiting) {
    this(shadowMode, nearLimitPercent, maxDescriptors, maxEntries, maxKeyLength, maxWaiting, 0);
  }

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public EngineSettings {
    check("nearLimitPercent", nearLimitPercent, 0, 100);
    check("maxDescriptors", maxDescriptors, 1, 65_536);
    check("maxEntries", maxEntries, 1, 1_024);
    check("maxKeyLength", maxKeyLength, 1, 1 << 20);
    check("maxWaiting", maxWaiting, 0, 1 << 20);
    check("maxLeases", maxLeases, 0, MAX_LEASES);
  }

  /** Returns these settings with another bound on leases. */
  public EngineSettings lending(int maxLeases) {
    return new EngineSettings(
        shadowMode,
        nearLimitPercent,
        maxDescriptors,
        maxEntries,
        maxKeyLength,
        maxWaiting,
        maxLeases);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
  }
}
