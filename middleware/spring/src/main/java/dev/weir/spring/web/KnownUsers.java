package dev.weir.spring.web;

import java.security.Principal;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/** The distinction of users from anonymous requests, which have a name in Spring Security too. */
final class KnownUsers {
  /** True if Spring Security is on the class path. */
  static final boolean SECURITY =
      ClassUtils.isPresent(
          "org.springframework.security.core.context.SecurityContextHolder",
          KnownUsers.class.getClassLoader());

  private KnownUsers() {}

  static boolean isKnown(Principal user) {
    return !SECURITY || SecurityAccess.isUser(user);
  }

  /** A separate class, because Spring Security may be absent. */
  private static final class SecurityAccess {
    static boolean isUser(Principal user) {
      return !(user instanceof Authentication authentication)
          || (authentication.isAuthenticated()
              && !(authentication instanceof AnonymousAuthenticationToken));
    }
  }
}
