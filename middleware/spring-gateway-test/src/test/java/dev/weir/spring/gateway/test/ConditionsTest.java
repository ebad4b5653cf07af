package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.spring.WeirAutoConfiguration;
import dev.weir.spring.WeirPropertiesException;
import dev.weir.spring.gateway.WeirGatewayAutoConfiguration;
import dev.weir.spring.gateway.WeirGatewayFilterFactory;
import dev.weir.spring.gateway.WeirKeyResolver;
import dev.weir.spring.gateway.WeirRateLimiter;
import dev.weir.spring.web.ReactiveLimitAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.ConversionService;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.validation.Validator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Tests of the conditions for the beans of a gateway, and of the one that decides. */
class ConditionsTest {
  private static final String PREFIX = "spring.cloud.gateway.server.webflux.";

  /** The parts of the gateway's own configuration that Weir's beans need. */
  @Configuration(proxyBeanMethods = false)
  static class Parts {
    @Bean
    GatewayProperties gatewayProperties() {
      return new GatewayProperties();
    }

    @Bean
    ConfigurationService service(
        BeanFactory beans,
        ObjectProvider<ConversionService> conversion,
        ObjectProvider<Validator> validator) {
      return new ConfigurationService(beans, conversion, validator);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnResolver {
    @Bean
    KeyResolver ownResolver() {
      return exchange -> Mono.just("own");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnLimiter {
    @Bean
    RateLimiter<Object> ownLimiter() {
      return new RateLimiter<>() {
        @Override
        public Mono<Response> isAllowed(String routeId, String id) {
          return Mono.just(new Response(true, Map.of()));
        }

        @Override
        public Map<String, Object> getConfig() {
          return Map.of();
        }

        @Override
        public Class<Object> getConfigClass() {
          return Object.class;
        }

        @Override
        public Object newConfig() {
          return new Object();
        }
      };
    }
  }

  private static ReactiveWebApplicationContextRunner gateway() {
    return weir().withUserConfiguration(Parts.class);
  }

  private static ReactiveWebApplicationContextRunner weir() {
    return new ReactiveWebApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                WeirAutoConfiguration.class,
                ReactiveLimitAutoConfiguration.class,
                WeirGatewayAutoConfiguration.class));
  }

  @Test
  void gateway_hasAllBeansAndNoFilterForAllPaths() {
    gateway()
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(WeirGatewayFilterFactory.class)
                    .hasSingleBean(WeirRateLimiter.class)
                    .hasSingleBean(WeirKeyResolver.class)
                    .doesNotHaveBean("weirFilter0"));
  }

  @Test
  void noGateway_hasTheFilterForAllPaths() {
    weir()
        .withClassLoader(new FilteredClassLoader("org.springframework.cloud.gateway"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean("weirGatewayFilterFactory")
                    .doesNotHaveBean("weirRateLimiter")
                    .hasBean("weirFilter0"));
  }

  @Test
  void gatewaySwitchedOff_hasTheFilterForAllPaths() {
    weir()
        .withPropertyValues(PREFIX + "enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(WeirGatewayFilterFactory.class)
                    .hasBean("weirFilter0"));
  }

  @Test
  void filtersSwitchedOff_haveNoBeans() {
    gateway()
        .withPropertyValues(
            PREFIX + "filter.weir.enabled=false",
            PREFIX + "filter.request-rate-limiter.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(WeirGatewayFilterFactory.class)
                    .doesNotHaveBean(WeirRateLimiter.class));
  }

  @Test
  void limiterAndResolverOfTheApplication_areAskedInstead() {
    gateway()
        .withUserConfiguration(OwnResolver.class, OwnLimiter.class)
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(WeirRateLimiter.class);
              assertThat(context.getBean(KeyResolver.class)).isNotInstanceOf(WeirKeyResolver.class);
            });
  }

  @Test
  void limiterThatTheGatewayMakesLater_isNotAsked() {
    gateway()
        .withConfiguration(AutoConfigurations.of(OwnLimiter.class))
        .run(
            context ->
                assertThat(context.getBean(RateLimiter.class)).isInstanceOf(WeirRateLimiter.class));
  }

  @Test
  void limitOfTheProperties_limitsARoute() {
    gateway()
        .withPropertyValues("weir.limits.orders.requests=1", "weir.limits.orders.per=day")
        .run(
            context -> {
              GatewayFilter filter =
                  context
                      .getBean(WeirGatewayFilterFactory.class)
                      .apply(args -> args.setDescriptor(List.of("name=orders", "key={ip}")));
              assertThat(status(filter)).isEqualTo(HttpStatus.NO_CONTENT);
              assertThat(status(filter)).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
            });
  }

  private static @Nullable HttpStatusCode status(GatewayFilter filter) {
    ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
    Route route = Route.async().id("orders").uri("http://127.0.0.1").predicate(any -> true).build();
    exchange.getAttributes().put(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR, route);
    filter
        .filter(
            exchange,
            each -> {
              each.getResponse().setStatusCode(HttpStatus.NO_CONTENT);
              return each.getResponse().setComplete();
            })
        .block(Duration.ofSeconds(60));
    return exchange.getResponse().getStatusCode();
  }

  @Test
  void notEnabled_admitsWithoutFields() {
    gateway()
        .withPropertyValues("weir.enabled=false")
        .run(
            context -> {
              RateLimiter.Response response =
                  context
                      .getBean(WeirRateLimiter.class)
                      .isAllowed("route", "key")
                      .block(Duration.ofSeconds(60));
              assertThat(Objects.requireNonNull(response).isAllowed()).isTrue();
              assertThat(response.getHeaders()).isEmpty();
            });
  }

  @Test
  void wrongRouteFromElsewhere_isRefusedAndWhatItSaidBeforeStays() {
    gateway()
        .run(
            context -> {
              WeirRateLimiter limiter = context.getBean(WeirRateLimiter.class);
              limiter.onApplicationEvent(event("3"));
              assertThatExceptionOfType(WeirPropertiesException.class)
                  .isThrownBy(() -> limiter.onApplicationEvent(event("-1")))
                  .withMessage(
                      "route far: weir-rate-limiter.permits: -1 (expected: a whole number, at"
                          + " least 0)");
              assertThat(Objects.requireNonNull(limiter.getConfig().get("far")).getPermits())
                  .isEqualTo(3);
              WeirGatewayFilterFactory factory = context.getBean(WeirGatewayFilterFactory.class);
              assertThatExceptionOfType(WeirPropertiesException.class)
                  .isThrownBy(() -> factory.apply("far", args -> args.setPermits(-1)))
                  .withMessage(
                      "route far, filter Weir: permits: -1 (expected: a whole number, at least 0)");
            });
  }

  private FilterArgsEvent event(String permits) {
    return new FilterArgsEvent(this, "far", Map.of("weir-rate-limiter.permits", permits));
  }
}
