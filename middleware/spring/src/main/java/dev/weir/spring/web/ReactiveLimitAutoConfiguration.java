package dev.weir.spring.web;

import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.spring.WeirAutoConfiguration;
import dev.weir.spring.WeirProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

/**
 * The configuration of filters for applications of Spring WebFlux, by {@code weir.filters}, if
 * there is a decider.
 */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(HandlerMapping.class)
@ConditionalOnBean(Decider.class)
@Import({ReactiveLimitAutoConfiguration.Filters.class, ExemptEndpointsConfiguration.class})
public final class ReactiveLimitAutoConfiguration {
  static final class Filters extends FilterRegistrar {
    Filters(Environment environment) {
      super(environment, ReactiveLimit.class);
    }
  }

  @Bean
  Limiters weirLimiters(
      WeirProperties properties,
      Environment environment,
      Decider decider,
      ObjectProvider<Ticker> ticker,
      ObjectProvider<ExemptEndpoints> endpoints) {
    Limiters limiters = new Limiters(properties, environment, decider, ticker, endpoints);
    limiters.refuseFailedLogins("false: WebFlux does not report them; refund-unless-status: 401");
    return limiters;
  }

  @Bean
  ReactiveTrust weirAddressTrust(
      Environment environment,
      ObjectProvider<WebServerFactory> servers,
      ObjectProvider<ForwardedHeaderTransformer> transformer) {
    return new ReactiveTrust(new AddressTrust(environment, servers), transformer);
  }

  @Bean
  @ConditionalOnProperty(prefix = "weir", name = "respond", havingValue = "exception")
  ReactiveExceptions weirExceptions(ObjectProvider<DispatcherHandler> dispatcher) {
    return new ReactiveExceptions(dispatcher);
  }

  @Bean
  ReactiveRefusals weirRefusals(
      ObjectProvider<ReactiveExceptions> exceptions,
      ObjectProvider<CorsConfigurationSource> sources,
      ObjectProvider<HandlerMapping> mappings) {
    ReactiveCors cors =
        new ReactiveCors(sources.orderedStream().toList(), () -> mappings.orderedStream().toList());
    return new ReactiveRefusals(cors, exceptions.getIfAvailable());
  }

  @Bean
  ReactiveLimits weirLimits(
      Limiters limiters,
      ReactiveTrust trust,
      ReactiveRefusals refusals,
      WeirProperties properties) {
    return new ReactiveLimits(limiters, trust, refusals, properties.addresses());
  }
}
