package dev.weir.replay.internal.judge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.LoadSignal;
import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bound on requests in flight. */
class RunSeatsTest {
  @Test
  void moreInFlightThanMemoryIsFor_isAnError(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("rules.yaml"),
            "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {concurrency: 1}\n");
    RuleSet rules = Objects.requireNonNull(Rules.load(List.of(file)).ruleSet());
    VirtualTime time = new VirtualTime();
    SeatTally tally = new SeatTally();
    RunRules run = new RunRules(rules, new MemoryStore(10), KeyPolicies.NONE);
    try (Engine engine = run.engine(time, LoadSignal.UNKNOWN)) {
      engine.apply(rules);
      RunSeats seats = new RunSeats(engine, time, KeyNames.PLAIN, tally, null, 2);
      Request request =
          new Request("d", List.of(new Descriptor(List.of(new Entry("k", "v")), null, 1L)), 1);
      Answer answer = engine.decide(request);
      seats.came(request, answer, 10);
      seats.came(request, answer, 20);
      assertThatThrownBy(() -> seats.came(request, answer, 10))
          .hasMessageStartingWith("input: more than 2 requests in flight at once (expected: ");
      while (time.runNext(20)) {
        assertThat(time.nanos()).isBetween(10L, 20L);
      }
      seats.came(request, answer, 10);
    }
  }
}
