package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class EngineMetersTest {
  private final FakeTicker ticker = new FakeTicker();
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private ApplicationContextRunner metered() {
    return Contexts.weir()
        .withConfiguration(AutoConfigurations.of(WeirMetricsAutoConfiguration.class))
        .withBean(Ticker.class, () -> ticker)
        .withPropertyValues(
            "weir.limits.api.requests=1", "weir.limits.api.per=minute", "weir.limits.api.by=ip");
  }

  private double permits(String outcome) {
    return registry
        .get("weir.rule.permits")
        .tag("rule", "api")
        .tag("outcome", outcome)
        .functionCounter()
        .count();
  }

  @Test
  void decisions_areCountedByRuleAndNeverByKey() {
    metered()
        .run(
            context -> {
              context.getBean(EngineMeters.class).bindTo(registry);
              Request request = Request.of("app", "limit", "api", "ip", "203.0.113.7");
              Decider decider = context.getBean(Decider.class);
              decider.decide(request, answer -> {});
              decider.decide(request, answer -> {});
              ticker.advance(Duration.ofSeconds(1));
              assertThat(permits("within_limit")).isEqualTo(1);
              assertThat(permits("over_limit")).isEqualTo(1);
              assertThat(
                      registry
                          .get("weir.decisions")
                          .tag("outcome", "refused")
                          .functionCounter()
                          .count())
                  .isEqualTo(1);
              assertThat(registry.get("weir.keys").gauge().value()).isEqualTo(1);
              assertThat(registry.getMeters().toString()).doesNotContain("203.0.113.7");
            });
  }

  private double seats(String event) {
    return registry.get("weir.seats").tag("event", event).functionCounter().count();
  }

  @Test
  void seats_areCountedByEvent() {
    metered()
        .withPropertyValues("weir.limits.work.concurrency=1", "weir.limits.work.by=ip")
        .run(
            context -> {
              context.getBean(EngineMeters.class).bindTo(registry);
              Request request = Request.of("app", "limit", "work", "ip", "203.0.113.7");
              Decider decider = context.getBean(Decider.class);
              RequestSeats seats = new RequestSeats(decider, ticker, Duration.ofSeconds(10));
              decider.decide(
                  request, answer -> assertThat(seats.take(request, answer, "work")).isNotNull());
              ticker.advance(Duration.ofSeconds(10));
              assertThat(seats("granted")).isEqualTo(1);
              assertThat(seats("leaked")).isEqualTo(1);
              assertThat(seats("released")).isEqualTo(1);
              assertThat(seats("lost") + seats("uncertain")).isZero();
            });
  }

  @Test
  void rulesChange_metersFollow() {
    metered()
        .run(
            context -> {
              context.getBean(EngineMeters.class).bindTo(registry);
              Map<String, LimitProperties> other =
                  LimitRulesTest.limits("b.requests=1", "b.per=minute", "b.by=ip");
              context.getBean(RunningEngine.class).apply(LimitRules.rules("app", other));
              assertThat(registry.find("weir.rule.permits").tag("rule", "b").functionCounter())
                  .isNotNull();
            });
  }

  @Test
  void switchedOffOrWithoutMicrometer_thereAreNone() {
    metered()
        .withPropertyValues("weir.metrics.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(EngineMeters.class));
    metered()
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("weirEngineMeters"));
  }
}
