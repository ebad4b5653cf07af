package dev.weir.client.internal.lease;

/** How many permits a client asks for beyond what it wants now, as pure steps. */
final class Ahead {
  /** The service lends no more in one lease. */
  static final long MOST = 1 << 20;

  private Ahead() {}

  /**
   * Returns how much to ask for next: twice as much as before if that was gone in less than half of
   * its life, less if some of it was left over.
   *
   * @param before asked for the last time; 0 at first
   * @param spent of what was lent then
   * @param left of what was lent then
   * @param ageNanos since the lease was asked for
   * @param lifeNanos of the lease, 0 if there was none
   */
  static long next(long before, long spent, long left, long ageNanos, long lifeNanos) {
    if (lifeNanos == 0) {
      // Nothing was lent: near the limit, or the first time. One more finds out.
      return Math.max(1, before / 2);
    }
    if (left > 0) {
      return Math.max(1, Math.min(before, Math.max(spent, before / 2)));
    }
    return ageNanos < lifeNanos / 2 ? Math.min(MOST, Math.max(1, 2 * before)) : Math.max(1, before);
  }
}
