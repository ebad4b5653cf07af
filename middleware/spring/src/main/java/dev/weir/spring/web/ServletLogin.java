package dev.weir.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.context.SecurityContextHolder;

/** Finds the login of a servlet request, where authentication has been before. */
final class ServletLogin {
  private ServletLogin() {}

  static @Nullable String of(HttpServletRequest request) {
    Principal user = request.getUserPrincipal();
    if (user == null && KnownUsers.SECURITY) {
      user = Context.user(); // The application may have switched off Security's wrapper.
    }
    return user == null || !KnownUsers.isKnown(user) ? null : user.getName();
  }

  /** Apart, because Spring Security need not be there. */
  private static final class Context {
    static @Nullable Principal user() {
      return SecurityContextHolder.getContext().getAuthentication();
    }
  }
}
