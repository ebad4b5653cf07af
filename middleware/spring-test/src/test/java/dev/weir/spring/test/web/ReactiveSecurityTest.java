package dev.weir.spring.test.web;

import java.security.Principal;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * Tests of filters beside Spring Security in an application of Spring WebFlux, with anonymous
 * requests too.
 */
class ReactiveSecurityTest extends SecurityContract {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableWebFluxSecurity
  @Import({Pages.class, Who.class})
  static class App {
    @Bean
    MapReactiveUserDetailsService users() {
      return new MapReactiveUserDetailsService(
          User.withUsername("alice").password("{noop}" + Site.RIGHT).roles("USER").build());
    }

    @Bean
    SecurityWebFilterChain security(ServerHttpSecurity http) {
      return http.authorizeExchange(
              all -> all.pathMatchers("/open/**").permitAll().anyExchange().authenticated())
          .anonymous(Customizer.withDefaults())
          .httpBasic(Customizer.withDefaults())
          .build();
    }
  }

  @RestController
  static class Who {
    @GetMapping("/who")
    Mono<String> who(Mono<Principal> user) {
      return user.map(Principal::getName);
    }
  }

  @Override
  Site start(String... properties) {
    String[] all = new String[properties.length + 1];
    all[0] = Site.REACTIVE;
    System.arraycopy(properties, 0, all, 1, properties.length);
    return Site.start(Site.NETTY, App.class, all);
  }
}
