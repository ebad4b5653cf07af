package dev.weir.spring;

import dev.weir.Ticker;
import dev.weir.engine.RunningEngine;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** The configuration of {@link EngineMeters}, if the application has a meter registry. */
@AutoConfiguration(
    after = WeirAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass({MeterRegistry.class, MeterBinder.class})
@ConditionalOnBean(RunningEngine.class)
@ConditionalOnProperty(name = "weir.metrics.enabled", matchIfMissing = true)
public final class WeirMetricsAutoConfiguration {
  /** Returns the meters, which Boot binds to every registry. */
  @Bean
  @ConditionalOnMissingBean
  EngineMeters weirEngineMeters(
      RunningEngine engine,
      SharedStores stores,
      ReloadListeners reloads,
      ObjectProvider<Ticker> ticker) {
    return new EngineMeters(engine, stores, reloads, ticker.getIfAvailable(Ticker::system));
  }
}
