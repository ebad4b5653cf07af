package dev.weir.engine;

/**
 * How an engine decides.
 *
 * @param shadowMode whether every request passes, while the statuses keep the truth
 * @param nearLimitPercent from which share of a limit on a permit counts as near it, 0 to 100
 * @param maxDescriptors the most descriptors a request may have
 * @param maxEntries the most entries a descriptor may have
 * @param maxKeyLength the most UTF-16 code units that a key, a value or a domain may have
 * @param maxWaiting the most requests that may wait in line at a time, for all keys together
 */
public record EngineSettings(
    boolean shadowMode,
    int nearLimitPercent,
    int maxDescriptors,
    int maxEntries,
    int maxKeyLength,
    int maxWaiting) {

  /** Envoy sends a handful of descriptors; these leave room and still bound one request's work. */
  public static final EngineSettings DEFAULTS = new EngineSettings(false, 80, 128, 32, 4096, 1_000);

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public EngineSettings {
    check("nearLimitPercent", nearLimitPercent, 0, 100);
    check("maxDescriptors", maxDescriptors, 1, 65_536);
    check("maxEntries", maxEntries, 1, 1_024);
    check("maxKeyLength", maxKeyLength, 1, 1 << 20);
    check("maxWaiting", maxWaiting, 0, 1 << 20);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
  }
}
