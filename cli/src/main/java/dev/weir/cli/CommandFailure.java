package dev.weir.cli;

/** The command cannot do its work; the message says what, where and what was expected. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  CommandFailure(String message) {
    super(message);
  }

  CommandFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
