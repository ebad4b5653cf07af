package dev.weir.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who makes a call, for {@code {login}}. It must be safe for use by many threads, and
 * must not block.
 */
@FunctionalInterface
public interface LoginFinder {
  /**
   * Returns the name of the user, null for a call without one.
   *
   * @param context of the call, for example with what an interceptor before this one has found out
   * @param headers of the call; what they say is only a claim until somebody has checked it
   */
  @Nullable String login(Context context, Metadata headers);
}
