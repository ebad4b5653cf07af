package dev.weir.cli.command;

import dev.weir.cli.Main;

/** The command cannot do its work; the message says what, where and what was expected. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  public CommandFailure(String message) {
    this(Main.FAILED, message);
  }

  /**
   * @param status that the process exits with
   */
  public CommandFailure(int status, String message) {
    super(message);
    this.status = status;
  }

  public CommandFailure(String message, Throwable cause) {
    super(message, cause);
    status = Main.FAILED;
  }

  public int status() {
    return status;
  }
}
