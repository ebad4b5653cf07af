/**
 * Resources of statistics: counts, hot keys, refusals and live streams, merged over all servers.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.internal.stats.StatsResource}: counts over time; begin here
 *   <li>{@link dev.weir.admin.internal.stats.Fleet}: the other servers and their answers
 *   <li>{@link dev.weir.admin.internal.stats.LiveFeed}: seconds as they pass
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin.internal.stats;
