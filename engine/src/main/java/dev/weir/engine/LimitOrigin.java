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
    REQUEST
  }

  /** The number of the rule. */
  public static final LimitOrigin RULE = new LimitOrigin(Kind.RULE, "");

  /** The subject's own number. */
  public static final LimitOrigin OWN = new LimitOrigin(Kind.OWN, "");

  /** The number that the request brings along. */
  public static final LimitOrigin REQUEST = new LimitOrigin(Kind.REQUEST, "");

  /** Returns the origin of a plan's number. */
  public static LimitOrigin plan(String name) {
    return new LimitOrigin(Kind.PLAN, name);
  }

  /** Returns it in words: {@code rule}, {@code plan gold}, {@code own limit} or {@code request}. */
  @Override
  public String toString() {
    return switch (kind) {
      case RULE -> "rule";
      case PLAN -> "plan " + plan;
      case OWN -> "own limit";
      case REQUEST -> "request";
    };
  }
}
