package dev.weir.server.internal.deciding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedDeciderTest {
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
