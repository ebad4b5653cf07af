package dev.weir.spring.method;

import dev.weir.engine.Decider;
import dev.weir.spring.RateLimit;
import dev.weir.spring.WeirAutoConfiguration;
import dev.weir.spring.WeirProperties;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * The configuration of the aspect behind {@link RateLimit}, if there is a decider. It needs
 * spring-aop only, which every application has: no AspectJ.
 *
 * <p>{@code weir.annotations.order} is its order among aspects. By default it is outside of
 * transactions and of retries: a refused call starts no transaction, and is not repeated.
 */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnBean(Decider.class)
@EnableConfigurationProperties(WeirProperties.class)
@Import(RateLimitAutoConfiguration.ProxyRegistrar.class)
public class RateLimitAutoConfiguration {
  private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 10;

  /**
   * The registrar that makes beans into proxies, like that of transactions, if nothing else does
   * yet.
   */
  static final class ProxyRegistrar implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
      AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    }
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static Advisor weirRateLimitAdvisor(BeanFactory beans, Environment environment) {
    LimitedMethods methods = new LimitedMethods();
    LimitSupport deciding = new LimitSupport(beans, environment);
    DefaultPointcutAdvisor advisor =
        new DefaultPointcutAdvisor(methods, new RateLimitInterceptor(methods, deciding));
    // Not by the properties: this is made before any bean, and then they would be too.
    advisor.setOrder(environment.getProperty("weir.annotations.order", Integer.class, ORDER));
    return advisor;
  }

  /** The answers to refusals in an application of Spring MVC. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  @ConditionalOnClass(name = "org.springframework.web.servlet.config.annotation.WebMvcConfigurer")
  static class Mvc {
    @Bean
    MvcRefusals weirMvcRefusals() {
      return new MvcRefusals();
    }
  }

  /** The answers to refusals in an application of Spring WebFlux. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  @ConditionalOnClass(name = "org.springframework.web.server.WebExceptionHandler")
  static class WebFlux {
    /** Returns the handler, which goes before Boot's own with the order -1. */
    @Bean
    @Order(-2)
    WebFluxRefusals weirWebFluxRefusals() {
      return new WebFluxRefusals();
    }
  }
}
