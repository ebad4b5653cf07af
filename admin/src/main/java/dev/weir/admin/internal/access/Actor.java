package dev.weir.admin.internal.access;

/**
 * The caller of a request.
 *
 * @param session the hash of the session's secret, or an empty text if the token itself was sent
 */
public record Actor(Token token, String session) {}
