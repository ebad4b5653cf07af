package dev.weir;

/**
 * One shape's table in a {@link PolicyHistory}, with the policies that it has counted for.
 * Immutable, except for the table itself.
 *
 * @param last the policy with the largest limit since the shape's policy last changed: the newest
 *     one, or one of its variants
 * @param widest the policy with the largest limit that may still matter
 * @param widestLeftNanos the instant at which the policy last changed while the widest was not in
 *     force, or {@link Long#MAX_VALUE}
 * @param retiredNanos the instant at which the shape was replaced, or {@link Long#MAX_VALUE}
 */
record ShapeTable(
    Table table, Policy last, Policy widest, long widestLeftNanos, long retiredNanos) {

  /** Returns the table of a policy in force. */
  static ShapeTable inForce(Table table, Policy policy) {
    return new ShapeTable(table, policy, policy, Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * Returns the policy with the largest limit that was in force at a time for which states still
   * count.
   */
  Policy widest(long nowNanos) {
    return hasPassed(widestLeftNanos, nowNanos) ? last : widest;
  }

  /** Returns whether all that was charged before an instant, for that time, counts no longer. */
  private boolean hasPassed(long sinceNanos, long nowNanos) {
    // A clock that went back may have shown the time of the change after that of later admissions.
    return sinceNanos != Long.MAX_VALUE
        && nowNanos - Math.max(sinceNanos, table.directory.latestNanos(table))
            > table.shape.memoryNanos();
  }

  /** Returns whether nothing in the table can matter any more. */
  boolean isOver(long nowNanos) {
    return hasPassed(retiredNanos, nowNanos) && !table.directory.counts(table, nowNanos);
  }

  /** Returns the same table with another policy of its shape in force. */
  ShapeTable with(Policy policy, long nowNanos) {
    Policy widest = widest(nowNanos);
    if (policy.quota().permits() >= widest.quota().permits()) {
      return inForce(table, policy);
    }
    // Counted from this change: the policy that leaves now may itself have been the second widest.
    return new ShapeTable(table, policy, widest, nowNanos, Long.MAX_VALUE);
  }

  /** Returns whether the limits in force are known to be as large as that of a variant. */
  boolean covers(Policy variant) {
    return variant.quota().permits() <= last.quota().permits();
  }

  /** Returns the same table with a variant of its policy beside it. */
  ShapeTable widened(Policy variant) {
    if (covers(variant)) {
      return this;
    }
    return variant.quota().permits() >= widest.quota().permits()
        ? new ShapeTable(table, variant, variant, Long.MAX_VALUE, retiredNanos)
        : new ShapeTable(table, variant, widest, widestLeftNanos, retiredNanos);
  }

  /**
   * Returns the same table with keys that were charged under another policy of its shape as well.
   */
  ShapeTable alsoOf(Policy other, long nowNanos) {
    Policy wider =
        other.quota().permits() > widest(nowNanos).quota().permits() ? other : widest(nowNanos);
    long left = wider == last ? widestLeftNanos : nowNanos;
    long retired = retiredNanos == Long.MAX_VALUE ? retiredNanos : nowNanos;
    return new ShapeTable(table, last, wider, left, retired);
  }

  /** Returns how long after they were charged permits may be spent. */
  long lateNanos() {
    return Math.max(last.lateNanos, widest.lateNanos);
  }

  /** Returns the same table as a witness. */
  ShapeTable retired(long nowNanos) {
    return retiredNanos == Long.MAX_VALUE
        ? new ShapeTable(table, last, widest, widestLeftNanos, nowNanos)
        : this;
  }
}
