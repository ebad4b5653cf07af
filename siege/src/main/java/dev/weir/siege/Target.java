package dev.weir.siege;

import org.jspecify.annotations.Nullable;

/**
 * Where a server is to be found, on the loopback interface.
 *
 * @param token what its clients show, null if it asks for none
 */
record Target(int http, int grpc, int resp, @Nullable String token) {}
