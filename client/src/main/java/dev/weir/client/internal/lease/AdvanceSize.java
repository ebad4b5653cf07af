package dev.weir.client.internal.lease;

/** The number of permits to request in advance, as pure steps. */
final class AdvanceSize {
  /** The most permits that the service lends in one lease. */
  static final long MOST = 1 << 20;

  private AdvanceSize() {}

  /**
   * Returns the number of permits to request next: twice as many as before if the lease was spent
   * in less than half of its lifetime, fewer if permits were left over.
   *
   * @param before permits requested the last time; 0 at first
   * @param spent permits of the last lease that were spent
   * @param left permits of the last lease that were left
   * @param ageNanos nanoseconds since the lease was requested
   * @param lifeNanos lifetime of the lease in nanoseconds, 0 if there was none
   */
  static long next(long before, long spent, long left, long ageNanos, long lifeNanos) {
    if (lifeNanos == 0) {
      // Nothing was lent: near the limit, or the first time. One more permit is a trial.
      return Math.max(1, before / 2);
    }
    if (left > 0) {
      return Math.max(1, Math.min(before, Math.max(spent, before / 2)));
    }
    return ageNanos < lifeNanos / 2 ? Math.min(MOST, Math.max(1, 2 * before)) : Math.max(1, before);
  }
}
