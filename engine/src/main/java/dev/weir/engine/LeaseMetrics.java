package dev.weir.engine;

/**
 * The counts of {@link Leases} since it began; a snapshot.
 *
 * @param outstanding leases and refundable charges that are remembered now
 * @param maxOutstanding the most that may be remembered
 * @param asks lease requests that were decided
 * @param leases leases granted
 * @param lent permits of those leases
 * @param returned permits that clients returned as not spent
 * @param takenBack permits of those, and of refunds, that could be spent by others again
 * @param expired permits of leases that ended without a return by their client: spent or stranded
 * @param unknown returns and refunds of leases and charges that were not remembered
 * @param full lease requests with which nothing was lent, or no charge remembered, for want of room
 */
public record LeaseMetrics(
    long outstanding,
    long maxOutstanding,
    long asks,
    long leases,
    long lent,
    long returned,
    long takenBack,
    long expired,
    long unknown,
    long full) {}
