package dev.weir.rules;

/** The severity of a {@link Problem}. */
public enum Severity {
  /** The rules cannot be used. */
  ERROR,

  /** The rules can be used, but probably do not do what was meant. */
  WARNING
}
