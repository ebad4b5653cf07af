/** gRPC and HTTP doors on one engine. */
@org.jspecify.annotations.NullMarked
package dev.weir.server;
