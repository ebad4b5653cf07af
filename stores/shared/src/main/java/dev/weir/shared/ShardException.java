package dev.weir.shared;

import dev.weir.internal.IoCauses;
import java.io.Serial;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** The failure of a call. Its message gives the reason, in words for the log. */
public final class ShardException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final Failure failure;

  /** Creates an exception without a stack trace. */
  public ShardException(Failure failure, String message) {
    super(message, null, false, false);
    this.failure = failure;
  }

  /** Returns the kind of failure. */
  public Failure failure() {
    return failure;
  }

  /** Returns the exception within an error, without the exceptions in which futures wrap it. */
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
        Failure.OTHER,
        message == null ? cause.getClass().getSimpleName() : IoCauses.plain(message));
  }
}
