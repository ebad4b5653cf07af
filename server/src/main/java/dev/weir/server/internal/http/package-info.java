/**
 * The HTTP port: decisions, metrics, health, rules, and the administration port.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.http.HttpDoor}: the port; begin here
 *   <li>{@link dev.weir.server.internal.http.Endpoints}: the paths of the service
 *   <li>{@link dev.weir.server.internal.http.HttpFraming}: requests from bytes
 *   <li>{@link dev.weir.server.internal.http.QuickRequests}: plain requests for decisions, answered
 *       without objects
 *   <li>{@link dev.weir.server.internal.http.AdminRequests}: the administration port
 * </ul>
 *
 * <p>More than 20 types: the quick readers are beside the general ones, and share their dispatch.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.http;
