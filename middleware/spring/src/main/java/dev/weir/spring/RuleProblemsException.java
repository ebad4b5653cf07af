package dev.weir.spring;

/** Rules within a jar that have errors, each with its line and column. */
final class RuleProblemsException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  RuleProblemsException(String problems) {
    super(problems);
  }
}
