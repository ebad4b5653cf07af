package dev.weir.server.internal.resp;

/** A breach of the protocol, after which no bytes of the connection can be trusted. */
final class RespError extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param what the error in the form that clients show, without line breaks
   */
  RespError(String what) {
    super("Protocol error: " + what, null, false, false);
  }
}
