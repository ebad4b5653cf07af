package dev.weir.spring.test.method;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Tests of a refused call in an application of Spring MVC. */
@SpringBootTest(
    webEnvironment = WebEnvironment.RANDOM_PORT,
    classes = MvcRefusalTest.App.class,
    properties = {"weir.domain=shop", "spring.main.web-application-type=servlet"})
class MvcRefusalTest extends RefusalContract {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Site.class)
  static class App {
    @Bean
    SecurityFilterChain everybody(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(all -> all.anyRequest().permitAll()).build();
    }
  }
}
