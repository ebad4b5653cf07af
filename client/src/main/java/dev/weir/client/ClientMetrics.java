package dev.weir.client;

/**
 * What a client has counted since it was made. Immutable.
 *
 * @param admittedLocally requests that it let pass by a lease, without a call
 * @param refusedLocally requests that it refused by a remembered denial, without a call
 * @param asked requests that the service decided; several may have shared a call
 * @param answeredAway requests that it answered while the service could not be asked
 * @param messages sent to the service, of asks, returns or both
 * @param leases taken from the service
 * @param lent permits of these leases, those of the requests that asked not among them
 * @param returned permits of leases that were given back unspent
 * @param available whether the service can be asked now
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
