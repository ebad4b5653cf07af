package dev.weir.testkit;

/**
 * One request of generated traffic.
 *
 * @param nowNanos the time at which it is made; not always later than that of the one before
 * @param permits the number of permits requested, at least 0
 */
public record GeneratedRequest(long nowNanos, String key, long permits) {
  @Override
  public String toString() {
    return String.format("%,26d ns  %-6s %,14d permits", nowNanos, key, permits);
  }
}
