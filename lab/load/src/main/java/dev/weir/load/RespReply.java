package dev.weir.load;

import org.jspecify.annotations.Nullable;

/**
 * The parts of a Redis reply that are needed here.
 *
 * @param first the first integer in the reply, or {@link #NO_NUMBER}
 * @param error the server's message if it is an error
 */
record RespReply(long first, @Nullable String error) {
  static final long NO_NUMBER = Long.MIN_VALUE;
}
