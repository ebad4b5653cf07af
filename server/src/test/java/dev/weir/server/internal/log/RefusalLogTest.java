package dev.weir.server.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.server.LogCapture;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 0, name: per-user}
        - key: path
          rate_limit: {unit: minute, requests_per_unit: 9}
        - key: job
          rate_limit: {unit: second, requests_per_unit: 1,
            on_limit: {queue: {requests: 1, wait: 1500ms}}}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private LogCapture log;

  @BeforeEach
  void listen() {
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
    log = new LogCapture();
  }

  @AfterEach
  void close() {
    log.close();
    engine.close();
  }

  private RefusalLog of(String share, String keys) {
    ServerSettings settings =
        ServerSettings.of(Map.of("log-refusals", share, "log-refusals-keys", keys));
    return RefusalLog.of(settings, ticker);
  }

  private void request(RefusalLog refusals, Request request) {
    engine.decide(request, answer -> refusals.refused(request, answer));
  }

  private long lines() {
    return log.text().lines().filter(line -> line.startsWith("refused: ")).count();
  }

  @Test
  void refusal_isLoggedWithTheKeyMasked() {
    request(of("100%", "masked"), Request.of("shop", "user", "alice.smith"));
    assertThat(log.text())
        .matches(
            "refused: shop user=al…h·[0-9a-f]{4}: OVER_LIMIT by per-user, limit 0, never fits");
  }

  @Test
  void plainKeys_areShownIfAskedFor() {
    request(of("1", "plain"), Request.of("shop", "user", "alice.smith"));
    assertThat(log.text()).startsWith("refused: shop user=alice.smith: ");
  }

  @Test
  void refusalBeforeTheFirstRules_namesNoPolicy() {
    Decision decision =
        new Decision(
            false,
            Reason.UNCERTAIN,
            "no_rules",
            "",
            0,
            0,
            1_000_000_000L,
            0,
            ticker.nanos(),
            List.of());
    Status status = new Status(false, null, decision, null, 0, 0);
    of("1", "plain")
        .refused(Request.of("shop", "user", "alice"), Answer.of(false, List.of(status), null, 0));
    assertThat(log.text())
        .isEqualTo("refused: shop user=alice: UNCERTAIN (no_rules), retry after 1s");
  }

  @Test
  void admittedRequest_isNotLogged() {
    request(of("1", "masked"), Request.of("shop", "path", "/"));
    assertThat(lines()).isZero();
  }

  @Test
  void share_isThatOfTheLines() {
    RefusalLog refusals = of("50%", "masked");
    for (int i = 0; i < 1_000; i++) {
      ticker.advance(Duration.ofSeconds(1));
      request(refusals, Request.of("shop", "user", "u" + i));
    }
    assertThat(lines()).as("of 1,000, by chance; 9 deviations").isBetween(358L, 642L);
  }

  @Test
  void manyRefusals_areATrickleOfLinesThatSaysHowManyAreMissing() {
    RefusalLog refusals = of("1", "masked");
    for (int i = 0; i < 1_000; i++) {
      request(refusals, Request.of("shop", "user", "u" + i));
    }
    assertThat(lines()).isEqualTo(20);
    ticker.advance(Duration.ofMillis(100));
    request(refusals, Request.of("shop", "user", "last"));
    assertThat(log.text()).endsWith(" (980 lines left out)");
  }

  @Test
  void nothing_isLoggedByDefault() {
    assertThat(RefusalLog.of(ServerSettings.defaults(), ticker)).isSameAs(RefusalLog.NONE);
  }

  @Test
  void requestThatMayWait_isLoggedOnlyWhenItIsRefusedInTheEnd() {
    RefusalLog refusals = of("1", "masked");
    Request request = Request.of("shop", "job", "build");
    engine.decide(request, answer -> assertThat(answer.allowed()).isTrue());
    engine.decide(
        request,
        answer -> {
          assertThat(answer.maxWaitNanos()).isPositive();
          refusals.before(ignored -> {}, request, true).accept(answer);
          assertThat(lines()).isZero();
          refusals.before(ignored -> {}, request, false).accept(answer);
        });
    assertThat(lines()).isEqualTo(1);
  }
}
