package dev.weir.server.settings;

/** Where the keys of {@code CL.THROTTLE} and {@code THROTTLE} are counted. */
public enum ThrottleStore {
  /** In the store that servers share. */
  SHARED,
  /** In each server for itself. */
  LOCAL
}
