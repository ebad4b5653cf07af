package dev.weir.spring.web;

import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.servlet.RateLimitFilter;
import dev.weir.servlet.RefusalHandler;
import dev.weir.servlet.WaitingFilter;
import dev.weir.spring.WeirAutoConfiguration;
import dev.weir.spring.WeirProperties;
import jakarta.servlet.DispatcherType;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.security.authentication.event.AbstractAuthenticationFailureEvent;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.util.ClassUtils;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * The configuration of filters for applications in a servlet container, by {@code weir.filters}, if
 * there is a decider. An application's own {@link RefusalHandler} answers refusals in place of
 * Weir's.
 */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(RateLimitFilter.class)
@ConditionalOnBean(Decider.class)
@Import({
  ServletLimitAutoConfiguration.Filters.class,
  ServletLimitAutoConfiguration.Logins.class,
  ServletLimitAutoConfiguration.Forms.class,
  ExemptEndpointsConfiguration.class
})
public final class ServletLimitAutoConfiguration {
  /** The name of the bean by which Spring MVC resolves exceptions. */
  private static final String RESOLVER = "handlerExceptionResolver";

  private static final boolean MVC =
      ClassUtils.isPresent(
          "org.springframework.web.servlet.HandlerExceptionResolver",
          ServletLimitAutoConfiguration.class.getClassLoader());

  private static final boolean SECURITY =
      ClassUtils.isPresent(
          "org.springframework.security.authentication.event.AbstractAuthenticationFailureEvent",
          ServletLimitAutoConfiguration.class.getClassLoader());

  static final class Filters extends FilterRegistrar {
    Filters(Environment environment) {
      super(environment, ServletLimit.class);
    }
  }

  /** A separate class, because Spring MVC may be absent. */
  private static final class Exceptions {
    static RefusalHandler handler(BeanFactory beans) {
      return new ServletExceptions(beans.getBean(RESOLVER, HandlerExceptionResolver.class));
    }
  }

  /** The counting of failed logins, where there is Spring Security. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(AbstractAuthenticationFailureEvent.class)
  static class Logins {
    @Bean
    FailedLogins weirFailedLogins() {
      return new FailedLogins();
    }
  }

  /** The warning of limits by status on forms, where Spring Security protects web pages. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({SecurityFilterChain.class, UsernamePasswordAuthenticationFilter.class})
  static class Forms {
    @Bean
    FormLogins weirFormLogins(
        WeirProperties properties, ObjectProvider<SecurityFilterChain> chains) {
      return new FormLogins(properties, chains);
    }
  }

  @Bean
  IdlePaths weirIdlePaths(WeirProperties properties, Environment environment) {
    return new IdlePaths(properties, environment, MVC);
  }

  @Bean
  Limiters weirLimiters(
      WeirProperties properties,
      Environment environment,
      Decider decider,
      ObjectProvider<Ticker> ticker,
      ObjectProvider<ExemptEndpoints> endpoints) {
    Limiters limiters = new Limiters(properties, environment, decider, ticker, endpoints);
    if (!SECURITY) {
      limiters.refuseFailedLogins("false: Spring Security is not there, which reports them");
    }
    return limiters;
  }

  @Bean
  AddressTrust weirAddressTrust(Environment environment, ObjectProvider<WebServerFactory> servers) {
    return new AddressTrust(environment, servers);
  }

  @Bean
  @ConditionalOnMissingBean
  RefusalHandler weirRefusals(
      Limiters limiters, ObjectProvider<CorsConfigurationSource> sources, BeanFactory beans) {
    RefusalHandler answer =
        limiters.respondsByException() && MVC && beans.containsBean(RESOLVER)
            ? Exceptions.handler(beans)
            : RefusalHandler.standard();
    return new ServletCors(sources.orderedStream().toList(), answer);
  }

  /** Returns the last filter: it holds requests that wait, and passes all others. */
  @Bean
  FilterRegistrationBean<WaitingFilter> weirWaitingFilter(Limiters limiters) {
    FilterRegistrationBean<WaitingFilter> registration =
        new FilterRegistrationBean<>(new WaitingFilter(limiters.maxBlockedThreads()));
    registration.setName("weirWaiting");
    registration.setOrder(Ordered.LOWEST_PRECEDENCE);
    registration.setDispatcherTypes(DispatcherType.REQUEST);
    registration.setEnabled(limiters.enabled());
    return registration;
  }
}
