package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Shape;
import dev.weir.Store;
import dev.weir.shared.internal.LocalAuthority;
import dev.weir.shared.internal.Variants;
import org.jspecify.annotations.Nullable;

/** A policy in force in a {@code SharedStore}. Safe for use by many threads. */
public final class SharedBinding implements Binding {
  private final Store store;
  private final CodedPolicy coded;

  /**
   * The policy's share in this process, used while the store cannot be called; null if it has none.
   */
  public final @Nullable Binding localShare;

  private volatile @Nullable LocalAuthority authority;

  /** The permits and refusals that this process holds for the name's keys, under any policy. */
  final Variants variants;

  SharedBinding(
      Store store,
      CodedPolicy coded,
      @Nullable Binding localShare,
      @Nullable LocalAuthority authority,
      Variants variants) {
    this.store = store;
    this.coded = coded;
    this.localShare = localShare;
    this.authority = authority;
    this.variants = variants;
  }

  /** Returns the same binding with another authority. */
  SharedBinding with(@Nullable LocalAuthority other) {
    return other == authority ? this : new SharedBinding(store, coded, localShare, other, variants);
  }

  /**
   * Returns the permits and refusals that this process holds; null if the store decides each time.
   */
  @Nullable LocalAuthority authority() {
    LocalAuthority known = authority;
    if (known != null && known.closed()) {
      known = variants.of(this); // It was dropped as idle, or its rule is not in force any more.
      authority = known;
    }
    return known;
  }

  /**
   * Returns the window that the store counts by, in nanoseconds, before rounding. A permit of an
   * allotment may be granted until the allotment's end. If a window begins with each charge, the
   * allotment counts for that much longer. Windows that begin by the clock end the allotment
   * instead.
   */
  public static long countedWindowNanos(Policy policy) {
    long window = policy.quota().windowNanos();
    return policy.sharing().consistency() == Consistency.LEASED && !policy.algorithm().aligned()
        ? window + policy.sharing().syncIntervalNanos()
        : window;
  }

  /**
   * Returns the algorithm that the store counts by. Small limits of the default algorithm are
   * counted exactly.
   */
  public static Algorithm countedAlgorithm(Policy policy) {
    Algorithm counting = policy.shape().algorithm();
    return counting == Algorithm.SLIDING_WINDOW ? Algorithm.SLIDING_WINDOW_LOG : counting;
  }

  /**
   * The terms of a policy: permits that a process holds under one policy may be granted under
   * another with the same terms.
   */
  public record Terms(
      Consistency consistency, long syncIntervalNanos, Quota quota, long burst, Shape shape) {
    public static Terms of(Policy policy) {
      return new Terms(
          policy.sharing().consistency(),
          policy.sharing().syncIntervalNanos(),
          policy.quota(),
          policy.burst(),
          policy.shape());
    }
  }

  /**
   * Returns whether permits that a process holds under one policy may be granted under the other.
   */
  static boolean sameAuthority(Policy one, Policy other) {
    return Terms.of(one).equals(Terms.of(other));
  }

  @Override
  public String name() {
    return coded.name();
  }

  @Override
  public Policy policy() {
    return coded.policy();
  }

  @Override
  public Store store() {
    return store;
  }

  /** Returns the transport's encoding of the policy and its keys. */
  public PolicyCode code() {
    return coded.code();
  }

  @Override
  public String toString() {
    return coded.name() + ": " + coded.policy();
  }
}
