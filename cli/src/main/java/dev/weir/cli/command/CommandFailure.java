package dev.weir.cli.command;

import dev.weir.cli.Main;

/**
 * A failure of a command to do its work; the message names the cause, its place and the
 * expectation.
 */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  public CommandFailure(String message) {
    this(Main.FAILED, message);
  }

  /**
   * @param status the exit status of the process
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
