package dev.weir;

/** The treatment of limits after an end whose last admissions are not known. */
public enum AfterCrash {
  /** Keys are refused until their windows have passed, since the admitted permits are not known. */
  DENY,
  /** The permits admitted since the last state that is known do not count. */
  AMNESTY
}
