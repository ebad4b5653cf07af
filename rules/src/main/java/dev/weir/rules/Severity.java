package dev.weir.rules;

/** How bad a {@link Problem} is. */
public enum Severity {
  /** The rules cannot be used. */
  ERROR,

  /** The rules can be used, and probably do not do what was meant. */
  WARNING
}
