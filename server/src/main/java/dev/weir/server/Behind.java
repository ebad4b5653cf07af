package dev.weir.server;

import dev.weir.admin.AdminHandler;
import dev.weir.client.WeirClient;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.replay.RecordedTraffic;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.RefusalLog;
import dev.weir.server.internal.rules.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * What the ports of a server stand on.
 *
 * @param load the load for elastic rules
 * @param shared the shared store, for the metrics page, or null
 * @param buckets of callers that need no rules
 * @param tokens of clients that ask for decisions
 * @param configuration the configuration store, for the metrics page, or null
 * @param admin answers requests for administration; null if there is no port for them
 * @param upstream asks the server whose limits this one holds; null if it has its own
 * @param traffic records what the ports are asked; null if that is not wanted
 * @param refusals logs refused requests; null if that is not wanted
 * @param tracing makes spans of requests
 * @param observation keeps what was decided, for the dashboard; null if there is none
 */
record Behind(
    Engine engine,
    SystemLoad load,
    @Nullable SharedStore shared,
    CallerBuckets buckets,
    Tokens tokens,
    @Nullable Configuration configuration,
    @Nullable AdminHandler admin,
    @Nullable WeirClient upstream,
    @Nullable RecordedTraffic traffic,
    @Nullable RefusalLog refusals,
    Tracing tracing,
    @Nullable Observation observation) {}
