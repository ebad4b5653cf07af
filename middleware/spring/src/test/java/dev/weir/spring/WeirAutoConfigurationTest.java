package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.LoadSignal;
import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.load.ProcessorLoad;
import dev.weir.redis.RedisStore;
import dev.weir.rules.Request;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.FilteredClassLoader;

class WeirAutoConfigurationTest {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: ip
          rate_limit: {unit: minute, requests_per_unit: 1}
      """;

  @TempDir private Path folder;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private static boolean allowed(Decider decider, String domain) {
    List<Answer> answers = new ArrayList<>();
    decider.decide(Request.of(domain, "ip", "203.0.113.7"), answers::add);
    return answers.get(0).allowed();
  }

  @Test
  void nothingIsSet_engineWithoutRules() {
    Contexts.weir()
        .run(
            context -> {
              assertThat(context).hasSingleBean(Decider.class).hasSingleBean(RunningEngine.class);
              assertThat(context.getBean(RunningEngine.class).engine().rules().isEmpty()).isTrue();
              assertThat(context.getBean(LoadSignal.class)).isSameAs(LoadSignal.UNKNOWN);
              assertThat(allowed(context.getBean(Decider.class), "app")).isTrue();
            });
  }

  @Test
  void limits_areEnforcedInTheDomainOfTheApplicationsName() {
    Contexts.weir()
        .withPropertyValues(
            "spring.application.name=shop",
            "weir.limits.api.requests=1",
            "weir.limits.api.per=minute",
            "weir.limits.api.by=ip")
        .run(
            context -> {
              Decider decider = context.getBean(Decider.class);
              Request request = Request.of("shop", "limit", "api", "ip", "203.0.113.7");
              List<Answer> answers = new ArrayList<>();
              decider.decide(request, answers::add);
              decider.decide(request, answers::add);
              assertThat(answers).extracting(Answer::allowed).containsExactly(true, false);
            });
  }

  @Test
  void rulesOfAFile_areEnforced() throws IOException {
    Path rules = file("rules.yaml", RULES);
    Contexts.weir()
        .withPropertyValues("weir.rules=" + rules)
        .run(
            context -> {
              Decider decider = context.getBean(Decider.class);
              assertThat(allowed(decider, "shop")).isTrue();
              assertThat(allowed(decider, "shop")).isFalse();
            });
  }

  @Test
  void weirYamlOnTheClassPath_isTakenUnlessRulesSayOtherwise() throws IOException {
    file("weir.yaml", RULES);
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
      Contexts.weir()
          .withClassLoader(loader)
          .run(
              context ->
                  assertThat(context.getBean(RunningEngine.class).engine().rules().domains())
                      .containsExactly("shop"));
      Contexts.weir()
          .withClassLoader(loader)
          .withPropertyValues("weir.rules=")
          .run(
              context ->
                  assertThat(context.getBean(RunningEngine.class).engine().rules().domains())
                      .isEmpty());
      Contexts.weir()
          .withClassLoader(loader)
          .withPropertyValues("weir.limits.api.requests=1", "weir.limits.api.per=minute")
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .rootCause()
                      .hasMessage(
                          "weir.limits: (expected: none beside classpath:weir.yaml; an empty"
                              + " weir.rules leaves that file out)"));
    }
  }

  @Test
  void disabled_decidesNothingAndOpensNothing() throws IOException {
    Path broken = file("broken.yaml", "nonsense");
    Contexts.weir()
        .withPropertyValues(
            "weir.enabled=false", "weir.rules=" + broken, "weir.store.uri=redis://127.0.0.1:1")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(allowed(context.getBean(Decider.class), "shop")).isTrue();
              assertThat(context.getBean(SharedStores.class).details())
                  .containsEntry("kind", "memory");
            });
  }

  @Test
  void ownDecider_takesThePlaceOfTheEngine() {
    Decider own =
        (Decider)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Decider.class},
                (proxy, method, arguments) -> null);
    Contexts.weir()
        .withBean(Decider.class, () -> own)
        .run(context -> assertThat(context).doesNotHaveBean(RunningEngine.class));
  }

  @Test
  void ownSettingsAndLoad_areTaken() {
    LoadSignal idle = () -> 0;
    EngineSettings settings = new EngineSettings(true, 80, 1, 32, 4096, 0);
    Contexts.weir()
        .withBean(LoadSignal.class, () -> idle)
        .withBean(EngineSettings.class, () -> settings)
        .run(
            context -> {
              assertThat(context.getBean(LoadSignal.class)).isSameAs(idle);
              assertThat(context.getBean(EngineSettings.class)).isSameAs(settings);
            });
  }

  @Test
  void load_isWhatTheSignalSays() {
    Contexts.weir()
        .withPropertyValues("weir.load.signal=cpu")
        .run(context -> assertThat(context).hasSingleBean(ProcessorLoad.class));
  }

  @Test
  void storeIsAway_applicationStarts() {
    Contexts.weir()
        .withPropertyValues("weir.store.uri=redis://127.0.0.1:1")
        .run(
            context -> {
              SharedStores stores = context.getBean(SharedStores.class);
              assertThat(stores.details()).containsEntry("kind", "redis");
              assertThat(stores.available()).isFalse();
            });
  }

  @Test
  void redisIsNotOnTheClassPath_errorNamesTheArtifact() {
    Contexts.weir()
        .withClassLoader(new FilteredClassLoader(RedisStore.class))
        .withPropertyValues("weir.store.uri=redis://127.0.0.1:1")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessage(
                        "weir.store.uri: (expected: the artifact dev.weir:weir-redis on the class"
                            + " path)"));
    Contexts.weir()
        .withClassLoader(new FilteredClassLoader("dev.weir.redis", "dev.weir.shared"))
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void ownSharedStore_isTakenAndClosedWithTheContext() {
    boolean[] closed = new boolean[1];
    Store own =
        (Store)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("close")) {
                    closed[0] = true;
                    return null;
                  }
                  return method.getName().equals("fingerprint")
                      ? new MemoryStore().fingerprint()
                      : method.getReturnType() == long.class ? (Object) 0L : null;
                });
    Contexts.weir()
        .withBean(WeirAutoConfiguration.SHARED_STORE, Store.class, () -> own)
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(closed[0]).isTrue();
  }

  @Test
  void twoContexts_countForThemselvesAndCloseForThemselves() {
    String[] limit = {
      "weir.limits.a.requests=1", "weir.limits.a.per=minute", "weir.limits.a.by=ip"
    };
    Request request = Request.of("app", "limit", "a", "ip", "203.0.113.7");
    Contexts.weir()
        .withPropertyValues(limit)
        .run(
            first ->
                Contexts.weir()
                    .withPropertyValues(limit)
                    .run(
                        second -> {
                          List<Answer> answers = new ArrayList<>();
                          first.getBean(Decider.class).decide(request, answers::add);
                          first.close();
                          second.getBean(Decider.class).decide(request, answers::add);
                          assertThat(answers)
                              .extracting(Answer::allowed)
                              .containsExactly(true, true);
                        }));
  }
}
