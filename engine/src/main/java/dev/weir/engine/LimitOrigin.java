package dev.weir.engine;

/**
 * Where the number of a limit comes from.
 *
 * @param plan the plan's name where it comes from one, else empty
 */
public record LimitOrigin(Kind kind, String plan) {
  /** The kinds of places that a number can come from. */
  public enum Kind {
    /** The rule itself. */
    RULE,
    /** The plan of the request's subject. */
    PLAN,
    /** A limit of the subject's own. */
    OWN,
    /** The request, which brings its limit along. */
    REQUEST,
    /**
     * Nowhere: it is not known which limits the request's subject has, so the number decided
     * nothing. What is shown instead is the rule's own.
     */
    UNKNOWN
  }

  /** The number of the rule. */
  public static final LimitOrigin RULE = new LimitOrigin(Kind.RULE, "");

  /** The subject's own number. */
  public static final LimitOrigin OWN = new LimitOrigin(Kind.OWN, "");

  /** The number that the request brings along. */
  public static final LimitOrigin REQUEST = new LimitOrigin(Kind.REQUEST, "");

  /** The rule's own number is shown, and the subject's is not known. */
  public static final LimitOrigin UNKNOWN = new LimitOrigin(Kind.UNKNOWN, "");

  /** Returns the origin of a plan's number. */
  public static LimitOrigin plan(String name) {
    return new LimitOrigin(Kind.PLAN, name);
  }

  /**
   * Returns it in words: {@code rule}, {@code plan gold}, {@code own limit}, {@code request} or
   * {@code not known}.
   */
  @Override
  public String toString() {
    return switch (kind) {
      case RULE -> "rule";
      case PLAN -> "plan " + plan;
      case OWN -> "own limit";
      case REQUEST -> "request";
      case UNKNOWN -> "not known";
    };
  }
}
