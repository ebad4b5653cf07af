package dev.weir.server.internal.settings;

/** The treatment of limits after an end at which their counts could not be saved. */
public enum AfterCrash {
  /** Keys are refused until their windows have passed, since the admitted permits are not known. */
  DENY,
  /** The permits admitted since the last image do not count. */
  AMNESTY
}
