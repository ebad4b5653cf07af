package dev.weir.cluster.internal.peer;

import java.io.IOException;
import java.io.Serial;

/** The failure of a call to another member. */
public final class PeerException extends IOException {
  @Serial private static final long serialVersionUID = 1;

  /** The known outcome of the call. */
  public enum Outcome {
    /** It did not arrive and never will. */
    NOT_SENT,
    /** It may have been handled, or may still be. */
    UNKNOWN,
    /** It arrived, and the other member answered that it failed. */
    FAILED
  }

  private final Outcome outcome;

  /** Creates an exception without a stack trace. */
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
