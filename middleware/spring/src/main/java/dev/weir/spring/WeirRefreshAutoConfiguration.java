package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * The configuration of limits in properties that change with the environment, if Spring Cloud
 * reports such changes.
 */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnClass(EnvironmentChangeEvent.class)
@ConditionalOnBean(RunningEngine.class)
public final class WeirRefreshAutoConfiguration {
  @Bean
  LimitsRefresh weirLimitsRefresh(RunningEngine engine, Environment environment) {
    return new LimitsRefresh(engine, environment);
  }
}
