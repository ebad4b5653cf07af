package dev.weir.rules;

/**
 * An error, or a probable mistake, in a rule file.
 *
 * @param message one line in the form {@code name: value (expected: constraint)}
 */
public record Problem(Severity severity, Position position, String message) {

  /** Returns {@code file:line:column message}. */
  @Override
  public String toString() {
    return position + " " + message;
  }
}
