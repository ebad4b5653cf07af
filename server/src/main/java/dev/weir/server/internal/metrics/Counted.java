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
 * All that a server counts, as it is when Prometheus asks.
 *
 * @param leases what was lent to clients
 * @param store what the shared store has counted; null if limits are counted in this process
 * @param cluster adds what this member of a cluster has counted; null if this is no member
 * @param config what was counted of the configuration store; null if there is none
 * @param client what was counted of the upstream server; null if there is none
 * @param doors what each protocol's port has counted, by the protocol's name
 * @param pending the memory that the connections of all ports take together
 * @param load 1 is full load; not a number if the load is not known
 * @param ready whether the server takes requests
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
