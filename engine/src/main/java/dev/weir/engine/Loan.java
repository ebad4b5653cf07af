package dev.weir.engine;

import dev.weir.Sharing;
import org.jspecify.annotations.Nullable;

/**
 * The decisions on one descriptor that a client may make by itself. All times are lengths, and
 * count from before the client sent its request.
 *
 * @param lease the number of the lease, for its return; 0 if nothing is lent
 * @param permits permits lent, beyond those of the request
 * @param lifeNanos for how long they may be spent
 * @param refuseForNanos for how long the client may refuse every request that holds the descriptor
 *     with at least {@code refusePermits}; 0 if it has to send each request
 * @param refusePermits at least 1 if {@code refuseForNanos} is not 0
 * @param sharing the answer while the service cannot be reached; null if nothing limits the
 *     descriptor
 * @param leased whether the rule lends permits at all
 */
public record Loan(
    long lease,
    long permits,
    long lifeNanos,
    long refuseForNanos,
    long refusePermits,
    @Nullable Sharing sharing,
    boolean leased) {

  /** The loan of a descriptor that nothing limits. */
  static final Loan NONE = new Loan(0, 0, 0, 0, 0, null, false);

  Loan lent(long newLease, long newPermits, long newLifeNanos) {
    return new Loan(
        newLease, newPermits, newLifeNanos, refuseForNanos, refusePermits, sharing, leased);
  }
}
