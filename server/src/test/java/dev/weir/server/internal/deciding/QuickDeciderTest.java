package dev.weir.server.internal.deciding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.rules.Rules;
import dev.weir.server.internal.guard.LoopLag;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a request counts once for its loop's lag, on whichever path it is decided. */
class QuickDeciderTest {
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: usual
          rate_limit: {unit: day, requests_per_unit: 1000}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: day, requests_per_unit: 1000}
        - key: queue
          rate_limit:
            {unit: day, requests_per_unit: 1000, on_limit: {queue: {requests: 1, wait: 1ms}}}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private final GuardedDecider decider =
      new GuardedDecider(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker);

  @AfterEach
  void stop() {
    engine.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Decides the given number of requests in each of three late turns; returns whether the loop is
   * overloaded then.
   */
  private boolean overloaded(QuickDecider quick, String key, int times) {
    LoopLag lag = new LoopLag(SECOND, ticker.nanos());
    LoopLag.here(lag);
    QuickRequest asked = new QuickRequest();
    asked.domain(bytes("test"), 0, 4);
    assertThat(asked.begin()).isTrue();
    asked.key(bytes(key), 0, key.length());
    asked.end();
    for (int turn = 0; turn < 3; turn++) {
      for (int i = 0; i < times; i++) {
        if (quick.take(asked) == null) {
          decider.decide(asked.request(), answer -> {});
        } else {
          assertThat(quick.decide().allowed(0)).isTrue();
        }
      }
      ticker.advance(3 * SECOND);
      lag.beat(ticker.nanos());
    }
    ticker.advance(3 * SECOND);
    LoopLag.here(new LoopLag(Long.MAX_VALUE, 0));
    return lag.overloaded(ticker.nanos(), 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"usual", "watched", "queue", "unknown"})
  void request_countsOnce(String key) {
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
    QuickDecider quick =
        new QuickDecider(decider, new RequestTimes(Histogram.ofRequests(), ticker));
    assertThat(overloaded(quick, key, LoopLag.MIN_ASKED - 1)).isFalse();
    assertThat(overloaded(quick, key, LoopLag.MIN_ASKED)).isTrue();
  }
}
