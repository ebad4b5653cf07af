/** The port for Redis clients: RESP2 and RESP3, the commands and {@code CL.THROTTLE}. */
@org.jspecify.annotations.NullMarked
package dev.weir.server.resp;
