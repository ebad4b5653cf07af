package dev.weir.spring.web;

import java.security.Principal;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/** Tells users from anonymous requests, which have a name in Spring Security too. */
final class KnownUsers {
  /** Whether Spring Security is there. */
  static final boolean SECURITY =
      ClassUtils.isPresent(
          "org.springframework.security.core.context.SecurityContextHolder",
          KnownUsers.class.getClassLoader());

  private KnownUsers() {}

  static boolean isKnown(Principal user) {
    return !SECURITY || Authenticated.isUser(user);
  }

  /** Apart, because Spring Security need not be there. */
  private static final class Authenticated {
    static boolean isUser(Principal user) {
      return !(user instanceof Authentication authentication)
          || (authentication.isAuthenticated()
              && !(authentication instanceof AnonymousAuthenticationToken));
    }
  }
}
