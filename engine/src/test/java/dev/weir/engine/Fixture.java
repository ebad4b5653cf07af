package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.Objects;

/** An engine on a ticker of its own. */
public final class Fixture {
  public final FakeTicker ticker = new FakeTicker();
  public final Engine engine;

  public Fixture(String yaml) {
    this(yaml, EngineSettings.DEFAULTS, new MemoryStore());
  }

  public Fixture(String yaml, EngineSettings settings, Store store) {
    engine = Engine.create(store, ticker, settings);
    engine.apply(rules(yaml));
  }

  public static RuleSet rules(String yaml) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.problems()).isEmpty();
    return Objects.requireNonNull(loaded.ruleSet());
  }
}
