package dev.weir.engine;

/**
 * The origin of a limit's number.
 *
 * @param plan the plan's name if the number comes from one, else empty
 */
public record LimitOrigin(Kind kind, String plan) {
  /** The kinds of origins that a number can have. */
  public enum Kind {
    /** The rule itself. */
    RULE,
    /** The plan of the request's subject. */
    PLAN,
    /** A limit of the subject's own. */
    OWN,
    /** The request itself. */
    REQUEST,
    /**
     * None: the limits of the request's subject are not known, so the number decided nothing. The
     * number shown is the rule's own.
     */
    UNKNOWN
  }

  /** The number of the rule. */
  public static final LimitOrigin RULE = new LimitOrigin(Kind.RULE, "");

  /** The subject's own number. */
  public static final LimitOrigin OWN = new LimitOrigin(Kind.OWN, "");

  /** The number in the request. */
  public static final LimitOrigin REQUEST = new LimitOrigin(Kind.REQUEST, "");

  /** The rule's own number, shown because the subject's is not known. */
  public static final LimitOrigin UNKNOWN = new LimitOrigin(Kind.UNKNOWN, "");

  /** Returns the origin of a plan's number. */
  public static LimitOrigin plan(String name) {
    return new LimitOrigin(Kind.PLAN, name);
  }

  /**
   * Returns the origin in words: {@code rule}, {@code plan gold}, {@code own limit}, {@code
   * request} or {@code not known}.
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
