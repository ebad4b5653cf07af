/**
 * Ports beside Redis and empty services, middleware, and the client.
 *
 * <ul>
 *   <li>{@link dev.weir.bench.wire.Wire}: the scenario; begin here
 *   <li>{@link dev.weir.bench.wire.Middleware}: Tomcat with and without the filter
 *   <li>{@link dev.weir.bench.wire.ClientFigures}: calls that the client saves
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench.wire;
