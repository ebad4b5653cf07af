/**
 * The gRPC port: Envoy's rate limit service, {@code weir.v1.Weir}, quotas and health.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.grpc.GrpcDoor}: the port; begin here
 *   <li>{@link dev.weir.server.internal.grpc.RlsService}: Envoy's service
 *   <li>{@link dev.weir.server.internal.grpc.WeirService}: Weir's own service
 *   <li>{@link dev.weir.server.internal.grpc.QuotaService}: quotas of Envoy's filter {@code
 *       rate_limit_quota}
 *   <li>{@link dev.weir.server.internal.grpc.QuickCalls}: plain requests answered without grpc-java
 * </ul>
 *
 * <p>More than 20 types: connections and streams are guarded here, since grpc-java does not.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.grpc;
