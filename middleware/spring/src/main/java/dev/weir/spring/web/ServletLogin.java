package dev.weir.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.context.SecurityContextHolder;

/** The login of a servlet request, if authentication came before. */
final class ServletLogin {
  private ServletLogin() {}

  static @Nullable String of(HttpServletRequest request) {
    Principal user = request.getUserPrincipal();
    if (user == null && KnownUsers.SECURITY) {
      user = Context.user(); // The application may have disabled Spring Security's wrapper.
    }
    return user == null || !KnownUsers.isKnown(user) ? null : user.getName();
  }

  /** A separate class, because Spring Security may be absent. */
  private static final class Context {
    static @Nullable Principal user() {
      return SecurityContextHolder.getContext().getAuthentication();
    }
  }
}
