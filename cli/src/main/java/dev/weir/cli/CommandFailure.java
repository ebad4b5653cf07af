package dev.weir.cli;

/** The command cannot do its work; the message says what, where and what was expected. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  CommandFailure(String message) {
    this(Main.FAILED, message);
  }

  /**
   * @param status that the process exits with
   */
  CommandFailure(int status, String message) {
    super(message);
    this.status = status;
  }

  CommandFailure(String message, Throwable cause) {
    super(message, cause);
    status = Main.FAILED;
  }

  int status() {
    return status;
  }
}
