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
 * The parts of a server that its ports use.
 *
 * @param load the load for elastic rules
 * @param shared the shared store, for the metrics page, or null
 * @param buckets the buckets of callers that need no rules
 * @param tokens the tokens of clients that send requests for decisions
 * @param configuration the configuration store, for the metrics page, or null
 * @param admin the handler of requests for administration; null if there is no port for them
 * @param upstream the client of the server whose limits this one holds; null if it has its own
 * @param traffic the recorder of the ports' requests; null if they are not recorded
 * @param refusals the log of refused requests; null if they are not logged
 * @param tracing the source of spans of requests
 * @param observation the decisions kept for the dashboard; null if there is none
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
