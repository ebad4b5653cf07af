package dev.weir.spring.web;

import dev.weir.spring.WeirProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The configuration that finds the actuator's endpoints, if the actuator is there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(PathMappedEndpoints.class)
final class ExemptEndpointsConfiguration {
  @Bean
  ExemptEndpoints weirExemptEndpoints(
      WeirProperties properties,
      ObjectProvider<PathMappedEndpoints> endpoints,
      Environment environment) {
    return new ExemptEndpoints(properties, endpoints, environment);
  }
}
