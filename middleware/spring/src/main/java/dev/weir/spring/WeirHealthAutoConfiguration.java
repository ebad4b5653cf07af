package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The configuration of the health indicator {@code weir}. Its types have moved in Boot 4, so there
 * are two of it.
 */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnBean(RunningEngine.class)
public final class WeirHealthAutoConfiguration {

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({
    org.springframework.boot.actuate.health.HealthIndicator.class,
    org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator.class
  })
  static class Boot3 {
    @Bean
    @ConditionalOnMissingBean(name = "weirHealthIndicator")
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
        "weir")
    org.springframework.boot.actuate.health.HealthIndicator weirHealthIndicator(
        RunningEngine engine, SharedStores stores) {
      WeirHealth health = new WeirHealth(engine, stores);
      return () ->
          org.springframework.boot.actuate.health.Health.up().withDetails(health.details()).build();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({
    org.springframework.boot.health.contributor.HealthIndicator.class,
    org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator
        .class
  })
  static class Boot4 {
    @Bean
    @ConditionalOnMissingBean(name = "weirHealthIndicator")
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator(
        "weir")
    org.springframework.boot.health.contributor.HealthIndicator weirHealthIndicator(
        RunningEngine engine, SharedStores stores) {
      WeirHealth health = new WeirHealth(engine, stores);
      return () ->
          org.springframework.boot.health.contributor.Health.up()
              .withDetails(health.details())
              .build();
    }
  }
}
