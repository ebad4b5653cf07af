package dev.weir;

/**
 * The results of a request that charges several quotas of one key, each as many permits. Reusable;
 * not safe for use by several threads at once.
 */
final class QuotaResults {
  /*
   * Only numbers, since a reference that is written into a long-lived object costs a collector's
   * barrier; and far from other objects, since those of other threads would lie in the same cache
   * lines.
   */
  private static final int APART = 16;
  private static final int WIDTH = 4;
  private static final int REMAINING = 0;
  private static final int RETRY_AFTER = 1;
  private static final int RESET_AFTER = 2;
  private static final int AT = 3;

  private final long[] values = new long[APART + WIDTH * Lengths.MOST_PARTS + APART];

  private static int place(int i, int value) {
    return APART + WIDTH * i + value;
  }

  /** Sets the result of a quota; the retry-after is 0 if the permits fit. */
  void set(int i, long remaining, long retryAfterNanos, long resetAfterNanos, long atNanos) {
    values[place(i, REMAINING)] = remaining;
    values[place(i, RETRY_AFTER)] = retryAfterNanos;
    values[place(i, RESET_AFTER)] = resetAfterNanos;
    values[place(i, AT)] = atNanos;
  }

  boolean fits(int i) {
    return retryAfterNanos(i) == 0;
  }

  long remaining(int i) {
    return values[place(i, REMAINING)];
  }

  long retryAfterNanos(int i) {
    return values[place(i, RETRY_AFTER)];
  }

  long resetAfterNanos(int i) {
    return values[place(i, RESET_AFTER)];
  }

  long atNanos(int i) {
    return values[place(i, AT)];
  }

  /** Returns the quota that refuses longest, -1 if the permits fit all of them. */
  int slowest(int quotas) {
    int slowest = -1;
    long longest = 0;
    for (int i = 0; i < quotas; i++) {
      long retry = retryAfterNanos(i);
      if (retry > longest) {
        longest = retry;
        slowest = i;
      }
    }
    return slowest;
  }
}
