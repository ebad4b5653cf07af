package dev.weir.config;

/** The failure of a call to a configuration store. The message is one line. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The kinds of failures, by what a caller can do about them. */
  public enum Kind {
    /** The store has another revision or version than expected: read it again. */
    CONFLICT,
    /**
     * The store does not answer, or not now; a write may or may not have taken effect: try again.
     */
    UNAVAILABLE,
    /** The disk is full, or nearly full; nothing was written. */
    FULL,
    /** The stored data is damaged: an operator must act. */
    DAMAGED,
    /** Another process uses the store. */
    IN_USE
  }

  private final Kind kind;

  public ConfigException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public ConfigException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
