package dev.weir.examples.boot;

import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Component;

/** The plans of users. */
@Component
class Plans {
  /** The role of users who pay. */
  static final String PRO = "PRO";

  /** Returns the plan and the user, such as {@code free:alice}, by which the rules count. */
  public String of(Authentication user) {
    boolean pro =
        user.getAuthorities().stream()
            .anyMatch(each -> ("ROLE_" + PRO).equals(each.getAuthority()));
    return (pro ? "pro:" : "free:") + user.getName();
  }
}
