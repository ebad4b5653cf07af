package dev.weir.server.settings;

/** The reason why a server could not start, for the user who started it. */
public final class StartException extends Exception {
  private static final long serialVersionUID = 1L;

  public StartException(String message) {
    super(message);
  }

  public StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
