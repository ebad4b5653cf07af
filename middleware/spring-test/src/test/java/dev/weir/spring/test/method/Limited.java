package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Rules;
import dev.weir.spring.method.RateLimitAutoConfiguration;
import dev.weir.testkit.FakeTicker;
import java.util.Objects;
import java.util.function.Consumer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** An application whose limits count on the test's ticker. */
final class Limited {
  static final String RULES =
      """
      domain: shop
      descriptors:
        - key: name
          value: checkout
          descriptors:
            - key: key
              rate_limit: {unit: minute, requests_per_unit: 2}
        - key: name
          value: three
          rate_limit: {unit: minute, requests_per_unit: 3}
        - key: name
          value: seats
          rate_limit: {concurrency: 2, hold: 30s}
        - key: name
          value: one
          rate_limit: {unit: minute, requests_per_unit: 1}
      """;

  final FakeTicker ticker = new FakeTicker();
  final Engine engine;

  Limited() {
    this(RULES, new MemoryStore());
  }

  Limited(String rules, Store store) {
    engine = Engine.create(store, ticker, EngineSettings.DEFAULTS);
    Rules.LoadResult loaded = Rules.parse("rules.yaml", rules);
    assertThat(loaded.problems()).isEmpty();
    engine.apply(Objects.requireNonNull(loaded.ruleSet()));
  }

  /** Returns a runner of an application with these limits. */
  ApplicationContextRunner runner() {
    return new ApplicationContextRunner()
        .withPropertyValues("weir.domain=shop")
        .withConfiguration(
            AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class))
        .withBean(Ticker.class, () -> ticker)
        .withBean(Decider.class, () -> engine);
  }

  /** Runs an application with one bean and passes the bean to the test. */
  <T> void run(Class<T> type, Consumer<? super T> test) {
    runner().withBean(type).run(context -> test.accept(context.getBean(type)));
  }
}
