package dev.weir.traffic.internal.check;

import java.util.TreeSet;

/**
 * A counter of different values in bounded memory: exact up to {@value #KEPT}, beyond that within
 * some 3 % (two standard errors). It keeps the smallest hashes and estimates the number of values
 * from their size. Not safe for use by several threads.
 *
 * @see <a href="https://doi.org/10.1007/3-540-45726-7_1">Bar-Yossef et al., Counting distinct
 *     elements in a data stream</a>
 */
public final class DistinctValues {
  public static final int KEPT = 4096;

  private final TreeSet<Long> smallest = new TreeSet<>();
  private boolean exact = true;

  /** Counts a value. Returns whether it is new, as far as that is known. */
  public boolean add(byte[] data, int from, int to) {
    long hash = hash(data, from, to);
    if (smallest.size() == KEPT && hash >= smallest.last()) {
      exact &= hash == smallest.last();
      return false;
    }
    if (!smallest.add(hash)) {
      return false;
    }
    if (smallest.size() > KEPT) {
      smallest.pollLast();
      exact = false;
    }
    return true;
  }

  /** Returns the number of different values, exact or estimated. */
  public long count() {
    if (exact) {
      return smallest.size();
    }
    double share = smallest.last() / (double) Long.MAX_VALUE;
    return Math.round((KEPT - 1) / share);
  }

  /** Returns whether the count is exact. */
  public boolean exact() {
    return exact;
  }

  /**
   * Returns a hash: FNV-1a over the bytes, then the finish of MurmurHash3, which spreads it over
   * all bits.
   */
  private static long hash(byte[] data, int from, int to) {
    long hash = 0xcbf29ce484222325L;
    for (int i = from; i < to; i++) {
      hash = (hash ^ (data[i] & 0xff)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return (hash ^ (hash >>> 33)) >>> 1;
  }
}
