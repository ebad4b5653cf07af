package dev.weir.spring.gateway;

import dev.weir.engine.Decider;
import dev.weir.spring.WeirAutoConfiguration;
import dev.weir.spring.web.ReactiveLimitAutoConfiguration;
import dev.weir.spring.web.ReactiveLimits;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.config.GatewayAutoConfiguration;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.config.conditional.ConditionalOnEnabledFilter;
import org.springframework.cloud.gateway.filter.factory.RequestRateLimiterGatewayFilterFactory;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Primary;

/**
 * The limits in the routes of Spring Cloud Gateway, if there is a decider. There is no filter for
 * all paths then, unless {@code weir.filters} or {@code weir.limits} have one.
 */
@AutoConfiguration(
    before = {GatewayAutoConfiguration.class, ReactiveLimitAutoConfiguration.class},
    beforeName = "org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration",
    after = WeirAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(GatewayAutoConfiguration.class)
@ConditionalOnBean(Decider.class)
@ConditionalOnProperty(name = GatewayProperties.PREFIX + ".enabled", matchIfMissing = true)
public final class WeirGatewayAutoConfiguration {
  @Bean
  @ConditionalOnEnabledFilter
  WeirGatewayFilterFactory weirGatewayFilterFactory(ReactiveLimits limits) {
    return new WeirGatewayFilterFactory(limits);
  }

  /**
   * Returns the limiter for {@code RequestRateLimiter}, which goes before the gateway's own, unless
   * the application has a limiter of its own.
   */
  @Bean
  @Primary
  @ConditionalOnMissingBean(RateLimiter.class)
  @ConditionalOnEnabledFilter(RequestRateLimiterGatewayFilterFactory.class)
  WeirRateLimiter weirRateLimiter(ReactiveLimits limits, ConfigurationService service) {
    return new WeirRateLimiter(limits, service);
  }

  /** Returns a resolver that gives way to the application's own. */
  @Bean
  @Fallback
  WeirKeyResolver weirKeyResolver(ReactiveLimits limits) {
    return new WeirKeyResolver(limits);
  }

  /** Returns the filter at whose end the limits of routes give their seats back. */
  @Bean
  SeatFilter weirSeatFilter() {
    return new SeatFilter();
  }

  @Bean(ReactiveLimits.ELSEWHERE)
  RouteCheck weirRouteCheck(
      GatewayProperties properties,
      ConfigurationService service,
      ObjectProvider<WeirGatewayFilterFactory> factory,
      ObjectProvider<WeirRateLimiter> limiter) {
    return new RouteCheck(properties, service, factory, limiter);
  }
}
