package dev.weir.cluster.internal.state;

import dev.weir.Charges.Role;
import dev.weir.Reason;

/** The numbers of roles and reasons in entries and replies. Their meaning must never change. */
final class Codes {
  private static final Role[] ROLES = {
    Role.REQUIRED, Role.ANY, Role.OPTIONAL, Role.REPORTED, Role.REPORTED_SHADOW
  };

  private static final Reason[] REASONS = {
    Reason.WITHIN_LIMIT,
    Reason.OVER_LIMIT,
    Reason.TOLERATED,
    Reason.SHADOW,
    Reason.UNCERTAIN,
    Reason.OVERLOADED,
    Reason.KEY_SPACE_FULL,
    Reason.INVALID,
    Reason.NO_LIMIT,
    Reason.UNCERTAIN // The reason with which MOVED is read.
  };

  /**
   * A mark in place of a reason: the key belongs to another group, or soon will; nothing was
   * decided.
   */
  static final int MOVED = 9;

  private Codes() {}

  static int of(Role role) {
    return place(ROLES, role);
  }

  static Role role(int code) {
    return at(ROLES, code, "role");
  }

  static int of(Reason reason) {
    return place(REASONS, reason);
  }

  static Reason reason(int code) {
    return at(REASONS, code, "reason");
  }

  private static <T> int place(T[] all, T one) {
    int place = 0;
    while (all[place] != one) {
      place++;
    }
    return place;
  }

  private static <T> T at(T[] all, int code, String what) {
    if (code >= all.length) {
      throw new IllegalArgumentException(
          what + ": " + code + " (expected: 0.." + (all.length - 1) + ")");
    }
    return all[code];
  }
}
