package dev.weir.siege.soak;

import java.util.Locale;

/**
 * The resources of a server's process.
 *
 * @param heapBytes the bytes of the heap in use after a garbage collection
 * @param residentBytes the bytes resident in memory; 0 if the system does not report them
 */
public record Resources(long heapBytes, int descriptors, int threads, long residentBytes) {
  /** The slack for state, caches and late housekeeping. */
  static final long HEAP_SLACK = 12L << 20;

  static final int DESCRIPTOR_SLACK = 8;
  static final int THREAD_SLACK = 4;

  private static final double MIB = 1 << 20;

  /** Returns whether no more is used than before, apart from the slack. */
  public boolean backTo(Resources before) {
    return heapBytes <= before.heapBytes + HEAP_SLACK
        && descriptors <= before.descriptors + DESCRIPTOR_SLACK
        && threads <= before.threads + THREAD_SLACK;
  }

  double heapMebibytes() {
    return heapBytes / MIB;
  }

  double residentMebibytes() {
    return residentBytes / MIB;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "heap %.1f MiB, %d descriptors, %d threads, %.0f MiB resident",
        heapMebibytes(),
        descriptors,
        threads,
        residentMebibytes());
  }
}
