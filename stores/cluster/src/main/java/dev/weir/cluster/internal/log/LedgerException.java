package dev.weir.cluster.internal.log;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** An entry that was not applied, or of which that is not known. */
public final class LedgerException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** What is known of the entry. */
  public enum Outcome {
    /** It was not appended and never will be: another member leads, or none. */
    NOT_LEADER,
    /** It was not appended and never will be: too much waits already. */
    OVERLOADED,
    /** It may have been applied, or still be. */
    UNKNOWN
  }

  private final Outcome outcome;
  private final @Nullable String leader;
  private final String words;

  /**
   * Creates one without a stack trace.
   *
   * @param leader who is said to lead instead, or null
   */
  public LedgerException(Outcome outcome, @Nullable String leader, String message) {
    super(message, null, false, false);
    this.words = message;
    this.outcome = outcome;
    this.leader = leader;
  }

  /** Returns the message. */
  public String words() {
    return words;
  }

  public Outcome outcome() {
    return outcome;
  }

  /** Returns the name of who is said to lead instead; null if that is not known. */
  @Nullable
  public String leader() {
    return leader;
  }
}
