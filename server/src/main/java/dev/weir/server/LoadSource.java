package dev.weir.server;

/** Where elastic rules have the load from. */
public enum LoadSource {
  /** The processors of the machine, or of the container. */
  CPU,
  /** Requests that wait for their decision, of as many as are full load. */
  IN_FLIGHT,
  /** Whoever posts to {@code /v1/load}. */
  PUSHED
}
