package dev.weir.replay.internal.judge;

import java.util.Arrays;

/**
 * The permits that were requested, refused and tolerated, by equal intervals of time. The intervals
 * become longer as more time is covered: memory is bounded whatever the traffic. Time never goes
 * back.
 */
public final class Timeline {
  /**
   * The possible lengths of an interval; each divides the next, so that intervals join without a
   * remainder.
   */
  private static final long[] WIDTHS;

  static {
    long[] factors = {2, 5, 2, 5, 2, 5, 2, 5, 3, 2, 2, 5, 3, 2, 2, 3, 2, 2, 7, 4, 13, 10, 10};
    WIDTHS = new long[factors.length + 1];
    WIDTHS[0] =
        1_000_000; // 1, 2, 10, ... ms; 1, 2, 10, 30 s; 1, 2, 10, 30 min; 1, 2, 6, 12 h; days
    for (int i = 0; i < factors.length; i++) {
      WIDTHS[i + 1] = WIDTHS[i] * factors[i];
    }
  }

  private final long[] offered;
  private final long[] refused;
  private final long[] tolerated;
  private int width;

  /** The first interval, counted from the epoch. */
  private long origin;

  private int size;

  /**
   * @param most the most intervals; after a change of their length, at least a thirteenth of that
   *     are left
   */
  public Timeline(int most) {
    this(most, WIDTHS[0]);
  }

  /**
   * @param leastNanos the shortest interval, one of the lengths
   */
  public Timeline(int most, long leastNanos) {
    offered = new long[most];
    refused = new long[most];
    tolerated = new long[most];
    while (WIDTHS[width] < leastNanos) {
      width++;
    }
  }

  public void add(long nanos, long permits, boolean denied) {
    add(nanos, permits, denied, false);
  }

  /**
   * Adds permits.
   *
   * @param beyond true if they were admitted beyond their limit
   */
  public void add(long nanos, long permits, boolean denied, boolean beyond) {
    if (size == 0) {
      origin = Math.floorDiv(nanos, WIDTHS[width]);
    }
    long index = Math.floorDiv(nanos, WIDTHS[width]) - origin;
    while (index >= offered.length && width < WIDTHS.length - 1) {
      widen();
      index = Math.floorDiv(nanos, WIDTHS[width]) - origin;
    }
    int at = (int) Math.min(index, offered.length - 1);
    size = Math.max(size, at + 1);
    offered[at] = saturated(offered[at] + permits);
    if (denied) {
      refused[at] = saturated(refused[at] + permits);
    }
    if (beyond) {
      tolerated[at] = saturated(tolerated[at] + permits);
    }
  }

  private static long saturated(long sum) {
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  private void widen() {
    long factor = WIDTHS[width + 1] / WIDTHS[width];
    long from = Math.floorDiv(origin, factor);
    for (int i = 0; i < size; i++) {
      int to = (int) (Math.floorDiv(origin + i, factor) - from);
      move(offered, i, to);
      move(refused, i, to);
      move(tolerated, i, to);
    }
    size = size == 0 ? 0 : (int) (Math.floorDiv(origin + size - 1, factor) - from) + 1;
    origin = from;
    width++;
  }

  private static void move(long[] values, int from, int to) {
    long value = values[from];
    values[from] = 0;
    values[to] = saturated(values[to] + value);
  }

  public int size() {
    return size;
  }

  /** Returns the length of an interval in nanoseconds. */
  public long widthNanos() {
    return WIDTHS[width];
  }

  /** Returns the start of an interval, in nanoseconds since the Unix epoch. */
  public long startNanos(int i) {
    return (origin + i) * WIDTHS[width];
  }

  /** Returns the permits requested in an interval. */
  public long offered(int i) {
    return offered[i];
  }

  /** Returns the permits that were refused in an interval. */
  public long refused(int i) {
    return refused[i];
  }

  /** Returns the permits that were admitted in an interval. */
  public long admitted(int i) {
    return offered[i] - refused[i];
  }

  /** Returns the admitted permits that were beyond their limit. */
  public long tolerated(int i) {
    return tolerated[i];
  }

  /** Returns whether any were tolerated. */
  public boolean anyTolerated() {
    return Arrays.stream(tolerated).anyMatch(each -> each > 0);
  }

  public long mostOffered() {
    return Arrays.stream(offered).max().orElse(0);
  }
}
