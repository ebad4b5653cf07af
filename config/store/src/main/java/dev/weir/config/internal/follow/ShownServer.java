package dev.weir.config.internal.follow;

import dev.weir.config.rows.Counts;
import java.util.function.Supplier;

/**
 * A server as the store's list of servers shows it.
 *
 * @param id distinguishes it from all others
 * @param address its address for requests
 * @param admin the address of its interface for administration
 * @param version its version of Weir
 * @param counts the counts of its decisions
 */
public record ShownServer(
    String id, String address, Supplier<String> admin, String version, Supplier<Counts> counts) {}
