package dev.weir.redis;

import java.io.Serial;

/** A call that failed. */
final class ShardException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final Failure failure;

  ShardException(Failure failure, String message) {
    super(message, null, false, false);
    this.failure = failure;
  }

  Failure failure() {
    return failure;
  }
}
