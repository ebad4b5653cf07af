package dev.weir.server.internal.settings;

/** The source of the load for elastic rules. */
public enum LoadSource {
  /** The processors of the machine, or of the container. */
  CPU,
  /** Requests that wait for their decision, as a share of the number that counts as full load. */
  IN_FLIGHT,
  /** Readings that clients post to {@code /v1/load}. */
  PUSHED
}
