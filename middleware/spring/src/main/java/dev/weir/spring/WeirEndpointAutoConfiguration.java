package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The configuration of the actuator's endpoint {@code weir}, if it is exposed. */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(RunningEngine.class)
public final class WeirEndpointAutoConfiguration {
  /** A class of its own, because its condition cannot be read without the actuator. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnAvailableEndpoint(WeirEndpoint.class)
  static class EndpointConfiguration {
    @Bean
    @ConditionalOnMissingBean
    WeirEndpoint weirEndpoint(
        WeirProperties properties, RunningEngine engine, SharedStores stores) {
      return new WeirEndpoint(properties, engine, stores);
    }
  }
}
