package dev.weir.rules;

/**
 * An error, or a probable mistake, in a rule file.
 *
 * @param message one line in the form {@code name: value (expected: constraint)}
 */
public record Problem(Severity severity, Position position, String message) {

  /**
   * Returns the line for a list that may have errors and warnings: {@link #toString} for an error,
   * {@code file:line:column: warning: message} for a warning.
   */
  public String shown() {
    return severity == Severity.WARNING ? position + ": warning: " + message : toString();
  }

  /** Returns {@code file:line:column message}. */
  @Override
  public String toString() {
    return position + " " + message;
  }
}
