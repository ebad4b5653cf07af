package dev.weir.spring.test.web;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** Tests of filters in an application of Spring WebFlux, on Reactor Netty. */
class ReactiveWebTest extends WebContract {
  @Configuration(proxyBeanMethods = false)
  @EnableWebFluxSecurity
  static class Open {
    @Bean
    SecurityWebFilterChain security(ServerHttpSecurity http) {
      return http.authorizeExchange(all -> all.anyExchange().permitAll()).build();
    }
  }

  @Override
  Class<?> open() {
    return Open.class;
  }

  @Override
  ClassLoader classLoader() {
    return Site.NETTY;
  }

  @Override
  String serverFactory() {
    return "nettyReactiveWebServerFactory";
  }

  @Override
  String kind() {
    return Site.REACTIVE;
  }

  @Override
  String[] strategies() {
    return new String[] {"none", "framework", "native"};
  }
}
