/** The gRPC port: the rate limit service of Envoy, {@code weir.v1.Weir} and health. */
@org.jspecify.annotations.NullMarked
package dev.weir.server.grpc;
