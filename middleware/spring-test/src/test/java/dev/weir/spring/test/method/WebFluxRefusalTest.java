package dev.weir.spring.test.method;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** Tests of a refused call in an application of Spring WebFlux. */
@SpringBootTest(
    webEnvironment = WebEnvironment.RANDOM_PORT,
    classes = WebFluxRefusalTest.App.class,
    properties = {"weir.domain=shop", "spring.main.web-application-type=reactive"})
class WebFluxRefusalTest extends RefusalContract {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Site.class)
  static class App {
    @Bean
    SecurityWebFilterChain everybody(ServerHttpSecurity http) {
      return http.authorizeExchange(all -> all.anyExchange().permitAll()).build();
    }
  }
}
