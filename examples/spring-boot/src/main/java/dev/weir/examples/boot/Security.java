package dev.weir.examples.boot;

import dev.weir.engine.Decider;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.MissingValue;
import dev.weir.servlet.RateLimitFilter;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The authentication of users, and the limit on wrong passwords for a name. */
@Configuration(proxyBeanMethods = false)
class Security {
  /** The order just before Spring Security, whose order is -100. */
  private static final int BEFORE_SECURITY = -101;

  private static final String BASIC = "Basic ";

  @Bean
  UserDetailsService users() {
    return new InMemoryUserDetailsManager(
        User.withUsername("alice").password("{noop}wonderland").roles().build(),
        User.withUsername("bob").password("{noop}builder").roles(Plans.PRO).build());
  }

  @Bean
  SecurityFilterChain chain(HttpSecurity http) throws Exception {
    return http.authorizeHttpRequests(all -> all.anyRequest().authenticated())
        .httpBasic(Customizer.withDefaults())
        .sessionManagement(all -> all.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .build();
  }

  /**
   * Counts failed logins by the name that was tried. Before authentication the name is only the
   * client's claim, so this is a filter of the application's own: {@code {login}} in
   * application.yaml is always an authenticated user.
   */
  @Bean
  FilterRegistrationBean<RateLimitFilter> failedLoginsByUser(Decider decider) {
    RequestLimiter limiter =
        RequestLimiter.builder(decider)
            .domain("shop")
            .descriptor("failed-logins=by-user,user={login}")
            .missing(MissingValue.SKIP)
            .refundUnless(401)
            .build();
    RateLimitFilter filter = RateLimitFilter.builder(limiter).login(Security::triedName).build();
    FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(filter);
    registration.setOrder(BEFORE_SECURITY);
    return registration;
  }

  /** Returns the user's name in {@code Authorization: Basic}, or null. */
  static @Nullable String triedName(HttpServletRequest request) {
    String field = request.getHeader("Authorization");
    if (field == null || !field.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
      return null;
    }
    try {
      byte[] text = Base64.getDecoder().decode(field.substring(BASIC.length()).strip());
      String pair = new String(text, StandardCharsets.UTF_8);
      int colon = pair.indexOf(':');
      return colon < 0 ? null : pair.substring(0, colon);
    } catch (IllegalArgumentException e) {
      return null; // Authentication could not read such a name either.
    }
  }
}
