package dev.weir.adaptive;

/** The results of a request, by which an {@link AdaptiveLimiter} learns. */
public enum RequestOutcome {
  /** The backend has served the request; its latency is learnt. */
  SUCCEEDED,
  /**
   * The backend had no room for the request: it refused it as overloaded, or did not answer in
   * time. The limit falls. No other failure is one of these: every one lowers the limit.
   */
  DROPPED,
  /**
   * The request says nothing about the backend's load: the client has left, a cache has answered,
   * or it failed for a reason of its own. Nothing is learnt.
   */
  IGNORED
}
