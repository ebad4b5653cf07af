package dev.weir.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

/**
 * A function that finds the user of a call, for {@code {login}}. It must be safe for use by many
 * threads, and must not block.
 */
@FunctionalInterface
public interface LoginFinder {
  /**
   * Returns the name of the user, null for a call without one.
   *
   * @param context the context of the call, for example with values that an earlier interceptor has
   *     set
   * @param headers the headers of the call; they are only claims until another part has verified
   *     them
   */
  @Nullable String login(Context context, Metadata headers);
}
