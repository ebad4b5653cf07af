package dev.weir.admin;

/** The handler of requests to the administration interface. Safe for use by many threads. */
public interface AdminHandler {
  /** The largest body of a request, in bytes. */
  int MAX_BODY_BYTES = 16 << 20;

  /**
   * Answers a request. Must be called on a thread that may block: it waits for a store, and with
   * {@code ?wait=} up to a minute for other servers. No content of a request makes it throw.
   */
  AdminResponse handle(AdminRequest request);

  /** Returns the caller of a request, by what is in memory: it does not wait. */
  default AdminCaller caller(AdminRequest request) {
    return AdminCaller.unknown(request);
  }

  /** Ends the answers without an end, because the server stops. */
  default void endStreams() {}
}
