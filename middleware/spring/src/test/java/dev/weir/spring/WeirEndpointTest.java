package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.rules.Request;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class WeirEndpointTest {
  private static ApplicationContextRunner exposed() {
    return Contexts.weir()
        .withConfiguration(
            AutoConfigurations.of(
                WeirEndpointAutoConfiguration.class, WeirHealthAutoConfiguration.class))
        .withPropertyValues(
            "management.endpoints.web.exposure.include=weir",
            "weir.limits.api.requests=5",
            "weir.limits.api.per=minute",
            "weir.limits.api.by=ip");
  }

  @Test
  void rules_areListedWithCountersAndWithoutKeys() {
    exposed()
        .run(
            context -> {
              Request request = Request.of("app", "limit", "api", "ip", "203.0.113.7");
              context.getBean(Decider.class).decide(request, answer -> {});
              Map<String, Object> body = context.getBean(WeirEndpoint.class).rules();
              assertThat(body)
                  .containsEntry("revision", 1L)
                  .containsEntry("requests", 1L)
                  .containsEntry("keys", 1L)
                  .containsEntry("store", Map.of("kind", "memory"));
              assertThat(body.get("rules"))
                  .asString()
                  .contains("path=app.limit_api.ip", "requests=5", "window=1m", "withinLimit=1");
              assertThat(body.toString()).doesNotContain("203.0.113.7");
            });
  }

  @Test
  void explain_tellsTheStandingAndChargesNothing() {
    exposed()
        .run(
            context -> {
              WeirEndpoint endpoint = context.getBean(WeirEndpoint.class);
              Map<String, Object> first = endpoint.explain("app", "limit=api,ip=203.0.113.7");
              Map<String, Object> second = endpoint.explain("app", "limit=api,ip=203.0.113.7");
              assertThat(first)
                  .isEqualTo(second)
                  .containsEntry("rule", "app.limit_api.ip")
                  .containsEntry("allowed", true)
                  .containsEntry("limit", 5L);
              assertThat(first.get("explanation")).asString().contains("decided by");
            });
  }

  @Test
  void explain_ofNoRule_saysWhy() {
    exposed()
        .run(
            context ->
                assertThat(
                        context
                            .getBean(WeirEndpoint.class)
                            .explain("app", "path=/a")
                            .get("explanation"))
                    .asString()
                    .contains("no limit"));
  }

  @Test
  void reload_tellsRevisionAndProblems() {
    exposed()
        .run(
            context ->
                assertThat(context.getBean(WeirEndpoint.class).reload())
                    .containsEntry("revision", 1L)
                    .containsEntry("problems", List.of()));
  }

  @Test
  void notExposed_thereIsNone() {
    exposed()
        .withPropertyValues("management.endpoints.web.exposure.include=health")
        .run(context -> assertThat(context).doesNotHaveBean(WeirEndpoint.class));
  }

  @Test
  void actuatorIsNotOnTheClassPath_applicationStarts() {
    exposed()
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.actuate", "org.springframework.boot.health"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean("weirEndpoint")
                    .doesNotHaveBean("weirHealthIndicator"));
  }

  @Test
  void healthOfBoot3_isUpAndTellsOfTheStore() {
    exposed()
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
        .withPropertyValues("weir.store.uri=redis://127.0.0.1:1")
        .run(
            context -> {
              org.springframework.boot.actuate.health.Health health =
                  context
                      .getBean(org.springframework.boot.actuate.health.HealthIndicator.class)
                      .health();
              assertThat(health.getStatus().getCode()).isEqualTo("UP");
              assertThat(health.getDetails()).containsEntry("store", "away");
            });
  }

  @Test
  void healthIsDisabled_thereIsNone() {
    exposed()
        .withPropertyValues("management.health.weir.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("weirHealthIndicator"));
  }
}
