package dev.weir.server.internal.metrics;

import dev.weir.engine.CallerBuckets;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.LeaseMetrics;
import dev.weir.engine.RefundMetrics;
import dev.weir.engine.holds.HoldMetrics;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The counts of a server at the moment of a scrape.
 *
 * @param leases the permits lent to clients
 * @param refunds the permits that requests gave back by their number
 * @param holds the permits that requests hold, and their settlements
 * @param seats the seats that requests took, renewed and gave back
 * @param others adds the counts of the parts that not every server has
 * @param doors the counts of each protocol's port, by the protocol's name
 * @param pending the memory that the connections of all ports take together
 * @param load the load, where 1 is full; not a number if the load is not known
 * @param ready true if the server takes requests
 */
public record MetricSources(
    EngineMetrics engine,
    LeaseMetrics leases,
    RefundMetrics refunds,
    HoldMetrics holds,
    SeatMetrics seats,
    Consumer<Families> others,
    CallerBuckets throttle,
    Map<String, DoorCounters> doors,
    PendingBytes pending,
    double load,
    boolean ready) {}
