package dev.weir.traffic.internal.generate;

/**
 * A generated request.
 *
 * @param nanos the time, in nanoseconds since the Unix epoch
 * @param user the user as in an access log, {@code -} for none
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
