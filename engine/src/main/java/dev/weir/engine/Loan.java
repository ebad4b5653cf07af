package dev.weir.engine;

import dev.weir.Sharing;
import org.jspecify.annotations.Nullable;

/**
 * What a client may decide by itself of one descriptor. All times are lengths, and count from
 * before the client asked.
 *
 * @param lease names the lease when it is returned; 0 if nothing is lent
 * @param permits lent, beyond those of the request
 * @param lifeNanos for how long they may be spent
 * @param refuseForNanos for how long the client may refuse every request that holds the descriptor
 *     with at least {@code refusePermits}; 0 if it has to ask
 * @param refusePermits at least 1 where {@code refuseForNanos} is not 0
 * @param sharing says what to answer while the service cannot be asked; null where nothing limits
 *     the descriptor
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

  /** Of a descriptor that nothing limits. */
  static final Loan NONE = new Loan(0, 0, 0, 0, 0, null, false);

  Loan lent(long newLease, long newPermits, long newLifeNanos) {
    return new Loan(
        newLease, newPermits, newLifeNanos, refuseForNanos, refusePermits, sharing, leased);
  }
}
