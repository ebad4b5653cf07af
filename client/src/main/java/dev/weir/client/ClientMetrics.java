package dev.weir.client;

/**
 * The counts of one client since it was made. Immutable.
 *
 * @param admittedLocally requests admitted from a lease, without a call
 * @param refusedLocally requests refused by a remembered denial, without a call
 * @param asked requests that the service decided; several may have shared a call
 * @param answeredAway requests answered while the service could not be reached
 * @param messages messages sent to the service, with lease requests, returns or both
 * @param leases leases received from the service
 * @param lent permits of these leases, without those of the requests that were decided with them
 * @param returned permits of leases that were given back unspent
 * @param available true if the service can be reached now
 */
public record ClientMetrics(
    long admittedLocally,
    long refusedLocally,
    long asked,
    long answeredAway,
    long messages,
    long leases,
    long lent,
    long returned,
    boolean available) {}
