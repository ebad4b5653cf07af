package dev.weir.engine.holds;

/**
 * The counts of holds since the engine was made.
 *
 * @param granted the requests that hold permits
 * @param refused the requests for a hold that were refused, or could not be decided
 * @param settled the settlements that replaced a hold by its cost
 * @param settledBefore those of holds that had been settled before
 * @param late those that came when the life of the hold was over
 * @param uncertain those about which the store could not decide
 * @param returned the permits that settlements gave back
 * @param charged the permits that settlements counted in addition
 */
public record HoldMetrics(
    long granted,
    long refused,
    long settled,
    long settledBefore,
    long late,
    long uncertain,
    long returned,
    long charged) {}
