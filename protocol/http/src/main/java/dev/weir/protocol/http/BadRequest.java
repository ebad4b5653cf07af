package dev.weir.protocol.http;

/** A malformed request; the message names the place, the value and what was expected. */
public final class BadRequest extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an error without a stack trace.
   *
   * @param message {@code name: value (expected: constraint)}, with the place if there is one
   */
  public BadRequest(String message) {
    super(message, null, false, false);
  }
}
