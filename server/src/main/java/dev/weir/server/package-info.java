/**
 * The service: ports for gRPC, HTTP and the Redis protocol on one engine.
 *
 * <ul>
 *   <li>{@link dev.weir.server.WeirServer}: a running server; begin here
 *   <li>{@link dev.weir.server.ServerOptions}: its settings
 *   <li>{@link dev.weir.server.ClusterProvider}: the service interface by which a cluster is joined
 * </ul>
 *
 * <p>{@code Assembly} makes a server of its parts, which are in {@code internal}: {@code settings}
 * has the flags; {@code http}, {@code grpc} and {@code resp} are the ports, {@code deciding} their
 * path to the engine, {@code guard} and {@code access} their protection, {@code rules} and {@code
 * state} the data that outlives a request, {@code metrics}, {@code telemetry} and {@code log} the
 * reports.
 *
 * <p>More than 20 types: it wires all of these, and each part that a server may lack has a type.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server;
