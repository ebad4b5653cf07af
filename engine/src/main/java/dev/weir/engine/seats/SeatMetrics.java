package dev.weir.engine.seats;

/**
 * The counts of seats since the engine was made.
 *
 * @param granted the requests that took seats
 * @param refused the requests for seats that were refused, or could not be decided
 * @param renewed the renewals
 * @param released the seats that were given back
 * @param lost the renewals and returns of seats that were not held any more
 * @param uncertain the renewals and returns that the store did not answer
 * @param leaked the seats of requests that were given back after the longest time, because no end
 *     of the request was noticed; part of {@code released} as well
 */
public record SeatMetrics(
    long granted,
    long refused,
    long renewed,
    long released,
    long lost,
    long uncertain,
    long leaked) {}
