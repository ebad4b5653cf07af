/**
 * Weir as a service: gRPC, HTTP and Redis clients on one engine. {@link dev.weir.server.WeirServer}
 * starts and stops it; the packages below hold one protocol each and what these share.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server;
