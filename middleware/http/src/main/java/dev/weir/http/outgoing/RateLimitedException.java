package dev.weir.http.outgoing;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A request was not sent, because a limit is exceeded or because the service has said that it wants
 * no requests yet. Thrown instead of a response with status 429 or 503 if {@link
 * OutgoingLimiter.Builder#throwOnRefusal} says so.
 */
public final class RateLimitedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient @Nullable LocalRefusal refusal;

  /** Makes an exception whose message is that of the refusal. */
  public RateLimitedException(LocalRefusal refusal) {
    super(refusal.message());
    this.refusal = refusal;
  }

  /** Returns why; null only after deserialization. */
  public @Nullable LocalRefusal refusal() {
    return refusal;
  }
}
