package dev.weir.examples.boot;

import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Component;

/** Which plan a user is on. */
@Component
class Plans {
  /** The role of users who pay. */
  static final String PRO = "PRO";

  /** Returns the plan and the user, such as {@code free:alice}: what the rules count by. */
  public String of(Authentication user) {
    boolean pro =
        user.getAuthorities().stream()
            .anyMatch(each -> ("ROLE_" + PRO).equals(each.getAuthority()));
    return (pro ? "pro:" : "free:") + user.getName();
  }
}
