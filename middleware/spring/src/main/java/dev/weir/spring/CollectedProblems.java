package dev.weir.spring;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.BindHandler;

/** The advisor by which all wrong properties of Weir are reported at once. */
final class CollectedProblems implements ConfigurationPropertiesBindHandlerAdvisor {
  @Override
  public BindHandler apply(BindHandler bindHandler) {
    return new ProblemCollector(bindHandler);
  }
}
