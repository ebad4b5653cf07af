package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.http.RequestLimiter;
import dev.weir.spring.web.ReactiveLimits;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Tests of failed logins by a form in WebFlux, which the location of the answer shows. */
class ReactiveOutcomeTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableWebFluxSecurity
  static class App {
    @Bean
    MapReactiveUserDetailsService users() {
      return new MapReactiveUserDetailsService(
          User.withUsername("alice").password("{noop}" + Site.RIGHT).roles("USER").build());
    }

    @Bean
    SecurityWebFilterChain security(ServerHttpSecurity http) {
      return http.authorizeExchange(all -> all.anyExchange().authenticated())
          .formLogin(Customizer.withDefaults())
          .csrf(ServerHttpSecurity.CsrfSpec::disable) // A test's client has no page with the form.
          .build();
    }

    @Bean
    Logins logins(ReactiveLimits limits) {
      return new Logins(limits);
    }
  }

  /** A filter before Spring Security, whose order is -100. */
  @Order(-101)
  static class Logins implements WebFilter {
    private final ReactiveLimits limits;
    private final RequestLimiter limiter;

    Logins(ReactiveLimits limits) {
      this.limits = limits;
      limiter =
          limits
              .builder()
              .descriptor("failed={ip}")
              .paths("/login")
              .methods("POST")
              .refundUnless(outcome -> outcome.redirectsTo("/login?error"))
              .build();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
      return limits.limit(limiter, exchange, null, () -> chain.filter(exchange));
    }
  }

  @Test
  void failedLoginsOfAForm_countByTheLocation() {
    try (Site site =
        Site.start(Site.NETTY, App.class, Site.REACTIVE, "weir.filters[0].paths=/unused")) {
      for (int i = 0; i < 4; i++) {
        HttpResponse<String> right = site.login(Site.RIGHT).join();
        assertThat(right.statusCode()).isEqualTo(302);
        assertThat(right.headers().firstValue("Location")).hasValue("/");
        SecurityContract.awaitLeft(site, 2);
      }
      assertThat(site.login("wrong").join().headers().firstValue("Location"))
          .hasValue("/login?error");
      assertThat(site.login("wrong").join().statusCode()).isEqualTo(302);
      assertThat(site.login("wrong").join().statusCode()).isEqualTo(429);
      assertThat(site.login(Site.RIGHT).join().statusCode()).isEqualTo(429);
    }
  }
}
