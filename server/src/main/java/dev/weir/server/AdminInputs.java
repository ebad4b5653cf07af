package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.Observations;
import dev.weir.engine.Engine;
import dev.weir.replay.DryRuns;
import dev.weir.server.internal.rules.StoredConfiguration;
import dev.weir.server.internal.settings.ServerSettings;
import java.util.Optional;

/**
 * The parts of a server that its handler of requests for administration uses.
 *
 * @param observed its decisions
 * @param dryRuns dry runs over its recorded requests, which the handler closes; empty if none are
 *     recorded
 */
record AdminInputs(
    ServerSettings settings,
    Ticker ticker,
    Engine engine,
    StoredConfiguration configuration,
    Observations observed,
    Optional<DryRuns> dryRuns) {}
