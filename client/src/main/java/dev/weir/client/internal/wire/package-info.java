/**
 * Calls of the service over gRPC, in Weir's own protocol or Envoy's.
 *
 * <ul>
 *   <li>{@link dev.weir.client.internal.wire.Wire}: the interface of a protocol; begin here
 *   <li>{@link dev.weir.client.internal.wire.GrpcWire}: Weir's own protocol
 *   <li>{@link dev.weir.client.internal.wire.EnvoyWire}: Envoy's protocol
 *   <li>{@link dev.weir.client.internal.wire.Service}: the state of the connection, with a circuit
 *       breaker
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.client.internal.wire;
