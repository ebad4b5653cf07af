package dev.weir.cluster.internal.peer;

import java.io.IOException;
import java.io.Serial;

/** A call of another member that has no reply. */
public final class PeerException extends IOException {
  @Serial private static final long serialVersionUID = 1;

  /** What is known of the call. */
  public enum Outcome {
    /** It did not arrive and never will. */
    NOT_SENT,
    /** It may have been handled, or still be. */
    UNKNOWN,
    /** It arrived, and the other member says that it failed. */
    FAILED
  }

  private final Outcome outcome;

  /** Creates one without a stack trace. */
  public PeerException(Outcome outcome, String message) {
    super(message);
    this.outcome = outcome;
  }

  public Outcome outcome() {
    return outcome;
  }

  @Override
  public Throwable fillInStackTrace() {
    return this;
  }
}
