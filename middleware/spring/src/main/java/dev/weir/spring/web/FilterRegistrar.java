package dev.weir.spring.web;

import dev.weir.spring.WeirProperties;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * The registrar of as many beans as the properties have filters, since each has an order of its
 * own. The first argument of their constructor is the filter's number.
 */
abstract class FilterRegistrar implements ImportBeanDefinitionRegistrar {
  private final Environment environment;
  private final Class<?> type;

  FilterRegistrar(Environment environment, Class<?> type) {
    this.environment = environment;
    this.type = type;
  }

  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
    int filters = filters(registry.containsBeanDefinition(ReactiveLimits.ELSEWHERE));
    for (int i = 0; i < filters; i++) {
      RootBeanDefinition definition = new RootBeanDefinition(type);
      definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
      definition.getConstructorArgumentValues().addIndexedArgumentValue(0, i);
      registry.registerBeanDefinition("weirFilter" + i, definition);
    }
  }

  private int filters(boolean elsewhere) {
    try {
      WeirProperties properties =
          Binder.get(environment).bindOrCreate("weir", WeirProperties.class);
      boolean none = properties.filters().isEmpty() && properties.limits().isEmpty();
      return none && elsewhere ? 0 : properties.allFilters().size();
    } catch (BindException | IllegalArgumentException e) {
      return 0; // The application does not start: its bean of properties reports all problems.
    }
  }
}
