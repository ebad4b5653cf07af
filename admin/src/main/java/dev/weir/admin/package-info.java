/**
 * The administration interface, which reads and changes rules and limits while servers run.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.AdminApi}: the interface of a server; begin here
 *   <li>{@link dev.weir.admin.AdminHandler}: the handler of requests, for any HTTP server
 *   <li>{@link dev.weir.admin.StoreAdmin}: the same changes without a server
 * </ul>
 *
 * <p>Resources are in {@code internal.rules}, {@code internal.limits}, {@code internal.stats} and
 * {@code internal.access}; {@code internal.http} has routes, requests and replies.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin;
