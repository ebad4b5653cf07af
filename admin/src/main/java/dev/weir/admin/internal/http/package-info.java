/**
 * Requests, replies and routes of the administration interface, without an HTTP server.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.internal.http.Router}: routes as data; begin here
 *   <li>{@link dev.weir.admin.internal.http.Resource}: the handler of a route
 *   <li>{@link dev.weir.admin.internal.http.Call}: a request with its route and caller
 *   <li>{@link dev.weir.admin.internal.http.Reply}: a response under construction
 *   <li>{@link dev.weir.admin.internal.http.DashboardFiles}: the dashboard's files
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin.internal.http;
