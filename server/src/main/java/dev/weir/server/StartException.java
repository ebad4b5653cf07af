package dev.weir.server;

/** Why a server could not start, for the person who started it. */
public final class StartException extends Exception {
  private static final long serialVersionUID = 1L;

  StartException(String message) {
    super(message);
  }

  StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
