package dev.weir.admin;

/** Answers requests of the administration interface. Safe for use by many threads. */
public interface AdminHandler {
  /** How large a request's body may be, in bytes. */
  int MAX_BODY_BYTES = 16 << 20;

  /**
   * Answers a request. Blocks, so it is called on a thread that may wait: for a store, and with
   * {@code ?wait=} up to a minute for other servers. Never throws for what a request contains.
   */
  AdminResponse handle(AdminRequest request);

  /** Ends the answers that go on by themselves: the server stops. */
  default void stop() {}
}
