package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

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

  /** Returns the names of all algorithms, as in rule files. */
  static Stream<String> algorithms() {
    return Algorithm.rates().stream()
        .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }

  public static RuleSet rules(String yaml) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.problems()).isEmpty();
    return Objects.requireNonNull(loaded.ruleSet());
  }
}
