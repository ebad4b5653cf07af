package dev.weir.admin;

import dev.weir.insight.Insight;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * What a server knows of its decisions, and how it is shown.
 *
 * @param insight what is known; the caller ticks and closes it
 * @param show how keys are shown
 * @param node the server's name in the list of servers
 * @param revision the rules of the configuration store that are in force, 0 if they are from files
 * @param executor runs what is done every second for the live streams, one task after the other;
 *     its thread may wait
 */
public record Observed(
    Insight insight, ShowKeys show, String node, LongSupplier revision, Executor executor) {}
