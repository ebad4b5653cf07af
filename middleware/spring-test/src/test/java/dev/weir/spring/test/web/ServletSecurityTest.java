package dev.weir.spring.test.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Tests of filters beside Spring Security in an application of Spring MVC. */
class ServletSecurityTest extends SecurityContract {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import({Pages.class, Who.class})
  static class App {
    @Bean
    UserDetailsService users() {
      return new InMemoryUserDetailsManager(
          User.withUsername("alice").password("{noop}" + Site.RIGHT).roles("USER").build());
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(
              all -> all.requestMatchers("/open/**").permitAll().anyRequest().authenticated())
          .httpBasic(Customizer.withDefaults())
          .build();
    }
  }

  @RestController
  static class Who {
    @GetMapping("/who")
    String who(HttpServletRequest request) {
      return Objects.requireNonNull(request.getUserPrincipal()).getName();
    }
  }

  @Override
  Site start(String... properties) {
    return Site.start(Site.TOMCAT, App.class, properties);
  }
}
