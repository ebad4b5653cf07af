package dev.weir.server;

/** A request that makes no sense; the message says where, what and what was expected. */
final class BadRequest extends Exception {
  private static final long serialVersionUID = 1L;

  BadRequest(String message) {
    super(message, null, false, false);
  }
}
