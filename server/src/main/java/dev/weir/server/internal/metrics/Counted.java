package dev.weir.server.internal.metrics;

import dev.weir.client.ClientMetrics;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.LeaseMetrics;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.metrics.Families;
import dev.weir.shared.SharedMetrics;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The counts of a server at the moment of a scrape.
 *
 * @param leases the permits lent to clients
 * @param store the counts of the shared store; null if limits are counted in this process
 * @param cluster adds the counts of this member of a cluster; null if this server is not a member
 * @param config the counts of the configuration store; null if there is none
 * @param client the counts of the client of the upstream server; null if there is none
 * @param doors the counts of each protocol's port, by the protocol's name
 * @param pending the memory that the connections of all ports take together
 * @param load the load, where 1 is full; not a number if the load is not known
 * @param ready true if the server takes requests
 */
public record Counted(
    EngineMetrics engine,
    LeaseMetrics leases,
    @Nullable SharedMetrics store,
    @Nullable Consumer<Families> cluster,
    @Nullable CountedConfig config,
    @Nullable ClientMetrics client,
    CallerBuckets throttle,
    Map<String, DoorCounters> doors,
    PendingBytes pending,
    double load,
    boolean ready) {}
