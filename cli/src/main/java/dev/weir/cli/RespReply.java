package dev.weir.cli;

import org.jspecify.annotations.Nullable;

/**
 * As much of a Redis reply as matters here.
 *
 * @param first the first integer in it, or {@link #NO_NUMBER}
 * @param error the server's words if it is an error
 */
record RespReply(long first, @Nullable String error) {
  static final long NO_NUMBER = Long.MIN_VALUE;
}
