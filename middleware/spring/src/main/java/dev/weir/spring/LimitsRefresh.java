package dev.weir.spring;

import dev.weir.engine.RunningEngine;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * The listener that reads {@code weir.limits} again when Spring Cloud reports a change of the
 * environment. Wrong limits are logged, and the earlier ones stay in force. Filters stay unchanged:
 * new paths of a limit, or a new {@code by}, need a restart.
 */
final class LimitsRefresh implements ApplicationListener<EnvironmentChangeEvent> {
  private static final System.Logger LOG = System.getLogger(LimitsRefresh.class.getName());
  private static final String LIMITS = "weir.limits.";

  private final RunningEngine engine;
  private final Environment environment;

  LimitsRefresh(RunningEngine engine, Environment environment) {
    this.engine = engine;
    this.environment = environment;
  }

  @Override
  public void onApplicationEvent(EnvironmentChangeEvent event) {
    if (event.getKeys().stream().noneMatch(key -> key.startsWith(LIMITS))) {
      return;
    }
    try {
      WeirProperties properties =
          Binder.get(environment, new ProblemCollector(BindHandler.DEFAULT))
              .bindOrCreate("weir", Bindable.of(WeirProperties.class));
      if (properties.enabled() && !properties.limits().isEmpty()) {
        engine.apply(LimitRules.rules(properties.domain(environment), properties.limits()));
      }
    } catch (RuntimeException e) {
      LOG.log(
          Level.ERROR,
          "weir.limits: errors; revision {0} stays in force\n{1}",
          engine.engine().revision(),
          reason(e));
    }
  }

  private static @Nullable String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof WeirPropertiesException)) {
      cause = cause.getCause();
    }
    return cause.getMessage();
  }
}
