package dev.weir.http.outgoing;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The failure of a request that was not sent, because a limit is exceeded or because the service
 * has refused requests until a later time. Thrown instead of a response with status 429 or 503 if
 * {@link OutgoingLimiter.Builder#throwOnRefusal} is set.
 */
public final class RateLimitedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable LocalRefusal refusal;

  /** Makes an exception with the message of the refusal. */
  public RateLimitedException(LocalRefusal refusal) {
    super(refusal.message());
    this.refusal = refusal;
  }

  /** Returns the refusal; null only after deserialization. */
  public @Nullable LocalRefusal refusal() {
    return refusal;
  }
}
