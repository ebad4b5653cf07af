package dev.weir;

import org.jspecify.annotations.Nullable;

/** A policy in force in a {@link MemoryStore}. */
final class MemoryLimit implements Limit {
  /** The tables that counted for the name when it was last looked at. Immutable. */
  static final class Aim {
    private final Lineage.Member[] members;

    /** The only one of them, if it is of this policy's shape. */
    final @Nullable Table only;

    private Aim(Lineage.Member[] members, @Nullable Table only) {
      this.members = members;
      this.only = only;
    }
  }

  private static final Aim NOWHERE = new Aim(new Lineage.Member[0], null);

  final MemoryStore store;
  final Lineage lineage;
  private final Policy policy;

  /** The policy in force under the name, whose tables are used: this one, if it is no variant. */
  private final Policy inForce;

  /** Read and written without care: it is compared before it is used. */
  private Aim aim = NOWHERE;

  MemoryLimit(MemoryStore store, Lineage lineage, Policy policy) {
    this(store, lineage, policy, policy);
  }

  private MemoryLimit(MemoryStore store, Lineage lineage, Policy policy, Policy inForce) {
    this.store = store;
    this.lineage = lineage;
    this.policy = policy;
    this.inForce = inForce;
  }

  MemoryLimit variant(Policy other) {
    return new MemoryLimit(store, lineage, other, inForce);
  }

  /** Returns the shape of the table that counts. */
  Shape shape() {
    return inForce.shape();
  }

  @Override
  public String name() {
    return lineage.name();
  }

  @Override
  public Policy policy() {
    return policy;
  }

  /** Returns which tables count now. */
  Aim aim() {
    Lineage.Member[] members = lineage.members();
    Aim last = aim;
    if (last.members != members) {
      boolean only = members.length == 1 && members[0].table().shape.equals(shape());
      last = new Aim(members, only ? members[0].table() : null);
      aim = last;
    }
    return last;
  }

  boolean current(Aim aimed) {
    return aimed.members == lineage.members();
  }

  Lineage reopened(Lineage left, long now) {
    return store.reopened(left, inForce, now);
  }
}
