package dev.weir.spring.test.web;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Tests of filters in an application of Spring MVC, on Tomcat. */
class ServletWebTest extends WebContract {
  @Configuration(proxyBeanMethods = false)
  static class Open {
    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(all -> all.anyRequest().permitAll()).build();
    }
  }

  @Override
  Class<?> open() {
    return Open.class;
  }

  @Override
  ClassLoader classLoader() {
    return Site.TOMCAT;
  }

  @Override
  String serverFactory() {
    return "tomcatServletWebServerFactory";
  }

  @Override
  String kind() {
    return "spring.main.web-application-type=servlet";
  }

  /**
   * Returns all but native: Tomcat trusts proxies in private networks, such as this test's own
   * address.
   */
  @Override
  String[] strategies() {
    return new String[] {"none", "framework"};
  }
}
