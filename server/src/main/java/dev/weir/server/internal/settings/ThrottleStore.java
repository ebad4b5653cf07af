package dev.weir.server.internal.settings;

/** The store of the keys of {@code CL.THROTTLE} and {@code THROTTLE}. */
public enum ThrottleStore {
  /** In the store that servers share. */
  SHARED,
  /** Each server for itself. */
  LOCAL
}
