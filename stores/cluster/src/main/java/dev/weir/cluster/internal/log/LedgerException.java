package dev.weir.cluster.internal.log;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The failure of an entry that was not applied, or whose outcome is not known. */
public final class LedgerException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** The known outcome of the entry. */
  public enum Outcome {
    /** It was not appended and never will be: another member leads, or none. */
    NOT_LEADER,
    /** It was not appended and never will be: too many entries wait already. */
    OVERLOADED,
    /** It may have been applied, or may still be. */
    UNKNOWN
  }

  private final Outcome outcome;
  private final @Nullable String leader;
  private final String words;

  /**
   * Creates one without a stack trace.
   *
   * @param leader the name of the presumed leader, or null
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

  /** Returns the name of the presumed leader; null if unknown. */
  @Nullable
  public String leader() {
    return leader;
  }
}
