package dev.weir.config;

/** A configuration store did not do what it was asked to do. The message is one line. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What a caller can do about it. */
  public enum Kind {
    /** The store has another revision or version than was expected: read it again. */
    CONFLICT,
    /** The store does not answer, or not now; a write may or may not have been made: try again. */
    UNAVAILABLE,
    /** The disk is full, or nearly; nothing was written. */
    FULL,
    /** What is stored cannot be right: an operator must look at it. */
    DAMAGED,
    /** Another process has it open. */
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
