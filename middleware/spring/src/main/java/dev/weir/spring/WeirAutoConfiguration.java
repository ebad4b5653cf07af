package dev.weir.spring;

import dev.weir.LoadSignal;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.ReloadListener;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.load.ProcessorLoad;
import dev.weir.rules.RuleSet;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * The configuration of the engine and its owner, by the properties of {@link WeirProperties}. An
 * application's own {@link Decider} takes its place.
 */
@AutoConfiguration
@EnableConfigurationProperties(WeirProperties.class)
@ImportRuntimeHints(WeirRuntimeHints.class)
public final class WeirAutoConfiguration {
  /** The name of a bean that takes the place of the shared store of {@code weir.store}. */
  static final String SHARED_STORE = "weirSharedStore";

  /** The time after which a load that was not measured again is unknown. */
  private static final Duration KEEP_LOAD = Duration.ofSeconds(2);

  @Bean
  static ConfigurationPropertiesBindHandlerAdvisor weirCollectedProblems() {
    return new CollectedProblems();
  }

  /**
   * Returns the engine that counts and decides in this process; it is closed with the context, and
   * its store with it.
   */
  @Bean
  @ConditionalOnMissingBean(Decider.class)
  RunningEngine weirEngine(
      WeirProperties properties,
      Environment environment,
      ResourceLoader loader,
      EngineSettings settings,
      LoadSignal load,
      SharedStores stores,
      CountsFolder counts,
      ObjectProvider<Ticker> ticker,
      ReloadListeners listeners,
      @Qualifier(SHARED_STORE) ObjectProvider<Store> sharedStore) {
    RunningEngine.Builder builder =
        RunningEngine.builder()
            .rules(RuleSet.EMPTY) // This admits everything; an engine without rules refuses.
            .settings(settings)
            .load(load)
            .ticker(ticker.getIfAvailable(Ticker::system))
            .listener(listeners.asOne());
    Long maxKeys = properties.maxKeys();
    if (maxKeys != null) {
      builder.maxKeys(maxKeys);
    }
    if (properties.maxMemory() != null) {
      builder.maxBytes(properties.maxMemory().toBytes());
    }
    if (properties.enabled()) {
      RuleFiles.give(properties, properties.domain(environment), loader, builder);
      // Last, because from here on the engine closes it.
      Store shared =
          stores.open(properties.store(), sharedStore.getIfAvailable(), loader.getClassLoader());
      if (shared != null) {
        builder.shared(shared);
      }
      try {
        counts.give(properties, shared, ticker.getIfAvailable(), builder);
      } catch (RuntimeException e) {
        if (shared != null) {
          shared.close();
        }
        throw e;
      }
    }
    return builder.start();
  }

  @Bean
  static ReloadListeners weirReloadListeners(ObjectProvider<ReloadListener> listeners) {
    return new ReloadListeners(listeners.orderedStream().toList());
  }

  @Bean
  SharedStores weirSharedStores() {
    return new SharedStores();
  }

  /** Returns the folder of the counts; the engine, which depends on it, is closed before it. */
  @Bean
  CountsFolder weirCountsFolder() {
    return new CountsFolder();
  }

  @Bean
  @ConditionalOnMissingBean
  EngineSettings weirEngineSettings(WeirProperties properties) {
    EngineSettings defaults = EngineSettings.DEFAULTS;
    return new EngineSettings(
        defaults.shadowMode(),
        defaults.nearLimitPercent(),
        defaults.maxDescriptors(),
        defaults.maxEntries(),
        defaults.maxKeyLength(),
        properties.queue().maxRequests());
  }

  /** Returns the load for elastic rules. */
  @Bean
  @ConditionalOnMissingBean
  LoadSignal weirLoad(WeirProperties properties, ObjectProvider<Ticker> ticker) {
    return properties.load().signal() == null
        ? LoadSignal.UNKNOWN
        : new ProcessorLoad(ticker.getIfAvailable(Ticker::system), KEEP_LOAD);
  }
}
