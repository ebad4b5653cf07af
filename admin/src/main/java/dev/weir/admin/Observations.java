package dev.weir.admin;

import dev.weir.insight.Insight;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * The statistics of a server's decisions, and the form in which they are shown.
 *
 * @param insight the statistics; the caller ticks and closes it
 * @param show the form in which keys are shown
 * @param node the server's name in the list of servers
 * @param revision the rules of the configuration store that are in force, 0 if they are from files
 * @param executor runs the work of every second for the live streams, one task after the other; its
 *     thread may wait
 */
public record Observations(
    Insight insight, ShowKeys show, String node, LongSupplier revision, Executor executor) {}
