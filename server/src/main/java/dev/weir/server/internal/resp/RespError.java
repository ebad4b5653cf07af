package dev.weir.server.internal.resp;

/** A breach of the protocol, after which nothing that a connection sends can be trusted. */
final class RespError extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * @param what as clients show it, without line breaks
   */
  RespError(String what) {
    super("Protocol error: " + what, null, false, false);
  }
}
