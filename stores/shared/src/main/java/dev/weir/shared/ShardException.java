package dev.weir.shared;

import java.io.Serial;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** A call that failed. Its message says why, in words for the log. */
public final class ShardException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final Failure failure;

  /** Creates one without a stack trace. */
  public ShardException(Failure failure, String message) {
    super(message, null, false, false);
    this.failure = failure;
  }

  /** Returns what kind of failure it is. */
  public Failure failure() {
    return failure;
  }

  /** Returns what an error is, without what futures wrap around it. */
  public static ShardException of(Throwable error) {
    Throwable cause = error;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof ShardException known) {
      return known;
    }
    String message = cause.getMessage();
    return new ShardException(
        Failure.OTHER, message == null ? cause.getClass().getSimpleName() : message);
  }
}
