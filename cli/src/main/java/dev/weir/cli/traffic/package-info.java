/**
 * Commands on recorded traffic: inspect, generate, replay, compare, suggest.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.traffic.ReplayCommand}: traffic through rules; begin here
 *   <li>{@link dev.weir.cli.traffic.TrafficFlags}: the flags of all these commands
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.traffic;
