package dev.weir.siege;

import org.jspecify.annotations.Nullable;

/**
 * The ports of a server on the loopback interface.
 *
 * @param token of its clients, null if none is required
 */
record Target(int http, int grpc, int resp, @Nullable String token) {}
