package dev.weir.traffic.internal.visit;

/**
 * A generated request.
 *
 * @param nanos since the Unix epoch
 * @param user what an access log has for the user, {@code -} for none
 */
public record Visit(
    long nanos,
    String ip,
    String user,
    String method,
    String path,
    int status,
    int bytes,
    String agent) {}
