package dev.weir.server.internal.deciding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class GuardedDeciderTest {
  @Test
  void undecidedHold_countsInTheMemoryOfUndecidedRequests_untilItIsAnswered() {
    FakeTicker ticker = new FakeTicker();
    LateStore store = new LateStore();
    try (Engine engine = Engine.create(store, ticker, EngineSettings.DEFAULTS)) {
      String rules =
          "{domain: d, descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 9}}]}";
      engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", rules).ruleSet()));
      SystemLoad load = SystemLoad.of(ServerSettings.defaults(), ticker);
      UndecidedBytes undecided = new UndecidedBytes(1 << 20);
      GuardedDecider decider =
          GuardedDecider.builder(engine, load, ticker).undecided(undecided).build();
      List<HoldAnswer> answers = new ArrayList<>();
      decider.hold(Request.of("d", "k", "x"), () -> 1_000, answers::add);
      assertThat(answers).isEmpty();
      assertThat(undecided.bytes()).isGreaterThan(1_000);
      store.answer();
      assertThat(answers).hasSize(1);
      assertThat(undecided.bytes()).isZero();
    }
  }

  /** It would wait for the store with all the others, and its client can send it again. */
  @Test
  void settlementBeyondTheMemoryOfUndecidedRequests_isLeftAsItIs() {
    FakeTicker ticker = new FakeTicker();
    try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
      SystemLoad load = SystemLoad.of(ServerSettings.defaults(), ticker);
      GuardedDecider full =
          GuardedDecider.builder(engine, load, ticker).undecided(new UndecidedBytes(0)).build();
      List<Settlement> answers = new ArrayList<>();
      full.settle("any", List.of(0L), () -> 0, answers::add);
      assertThat(answers).containsExactly(new Settlement(Outcome.UNCERTAIN, 0, 0));
    }
  }
}
