package dev.weir.server.settings;

/** What becomes of limits after an end at which their counts could not be saved. */
public enum AfterCrash {
  /** Keys are refused until their windows have passed, since nobody knows what was admitted. */
  DENY,
  /** What was admitted since the last image is forgotten. */
  AMNESTY
}
