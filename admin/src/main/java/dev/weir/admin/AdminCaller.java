package dev.weir.admin;

import org.jspecify.annotations.Nullable;

/**
 * The caller of a request, as far as it is known without waiting. It decides the share of the
 * server that the caller gets, and nothing else: the request itself is authenticated when it is
 * handled.
 *
 * @param name a name that requests of one caller have in common: of a token, or of an address
 * @param role the role of the caller's token; null if it has no valid token
 */
public record AdminCaller(String name, @Nullable Role role) {
  /** Returns a caller without a valid token. */
  public static AdminCaller unknown(AdminRequest request) {
    return new AdminCaller("address " + request.source(), null);
  }

  /** Returns whether the caller has a valid token. */
  public boolean isKnown() {
    return role != null;
  }

  /** Returns whether the caller's role is that of operators. */
  public boolean isOperator() {
    return role == Role.OPERATOR;
  }
}
