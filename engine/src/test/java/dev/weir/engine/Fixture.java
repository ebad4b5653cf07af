package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.Objects;

/** An engine on a ticker of its own. */
final class Fixture {
  final FakeTicker ticker = new FakeTicker();
  final Engine engine;

  Fixture(String yaml) {
    this(yaml, EngineSettings.DEFAULTS, new MemoryStore());
  }

  Fixture(String yaml, EngineSettings settings, Store store) {
    engine = Engine.create(store, ticker, settings);
    engine.apply(rules(yaml));
  }

  static RuleSet rules(String yaml) {
    Rules.Loaded loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.problems()).isEmpty();
    return Objects.requireNonNull(loaded.ruleSet());
  }
}
