/**
 * Traffic: requests recorded in logs of any format, and generated ones.
 *
 * <ul>
 *   <li>{@link dev.weir.traffic.Traffic}: the source of requests, by files, format and template;
 *       begin here
 *   <li>{@link dev.weir.traffic.TrafficReader}: requests in order of time
 *   <li>{@link dev.weir.traffic.Format}: the formats of logs
 *   <li>{@link dev.weir.traffic.Inspector}: the contents of a log
 *   <li>{@link dev.weir.traffic.Generator}: generated requests
 * </ul>
 *
 * <p>{@code internal.read} reads lines, {@code internal.check} examines keys and unreadable lines,
 * and {@code internal.generate} generates visitors.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic;
