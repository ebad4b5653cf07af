/** A gRPC server with limits, and a client that heeds them. */
@org.jspecify.annotations.NullMarked
package dev.weir.examples.grpc;
