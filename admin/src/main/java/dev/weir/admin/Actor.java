package dev.weir.admin;

/**
 * Who asks.
 *
 * @param session the hash of the session's secret, or an empty text if the token itself was sent
 */
record Actor(Token token, String session) {}
