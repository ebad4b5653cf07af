package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.RunningEngine;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;

class LimitsRefreshTest {
  private static ApplicationContextRunner limited() {
    return Contexts.weir()
        .withConfiguration(AutoConfigurations.of(WeirRefreshAutoConfiguration.class))
        .withPropertyValues("weir.limits.api.requests=1", "weir.limits.api.per=minute");
  }

  private static void change(ConfigurableApplicationContext context, String requests) {
    String name = "weir.limits.api.requests";
    TestPropertyValues.of(name + "=" + requests).applyTo(context);
    context.publishEvent(new EnvironmentChangeEvent(context, Set.of(name)));
  }

  @Test
  void limitsChange_theyAreInForce() {
    limited()
        .run(
            context -> {
              RunningEngine engine = context.getBean(RunningEngine.class);
              change(context.getSourceApplicationContext(), "7");
              assertThat(engine.engine().revision()).isEqualTo(2);
              assertThat(engine.engine().rules().rules().get(0).requestsPerUnit()).isEqualTo(7);
            });
  }

  @Test
  void limitsAreWrong_thoseBeforeStayInForce() {
    limited()
        .run(
            context -> {
              change(context.getSourceApplicationContext(), "x");
              RunningEngine engine = context.getBean(RunningEngine.class);
              assertThat(engine.engine().rules().rules().get(0).requestsPerUnit()).isEqualTo(1);
            });
  }

  @Test
  void cloudIsNotOnTheClassPath_applicationStarts() {
    limited()
        .withClassLoader(new FilteredClassLoader("org.springframework.cloud"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("weirLimitsRefresh"));
  }
}
