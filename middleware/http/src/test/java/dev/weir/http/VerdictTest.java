package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);

  VerdictTest() {
    Rules.LoadResult loaded =
        Rules.parse(
            "rules.yaml",
            """
            domain: app
            descriptors:
              - key: ip
                rate_limit: {window: 1m, requests_per_unit: 1, algorithm: fixed-window}
              - key: tokens
                rate_limit: {window: 1m, requests_per_unit: 1000}
            """);
    engine.apply(Objects.requireNonNull(loaded.ruleSet()));
  }

  private static Verdict decide(RequestLimiter limiter, String method) {
    List<Verdict> verdicts = new ArrayList<>();
    limiter.decide(new PlainRequest("127.0.0.1", method, "/", "*/*"), verdicts::add);
    return verdicts.get(0);
  }

  @Test
  void statusThatCounts_nothingLaterGivesThePermitBack() {
    RequestLimiter limiter = RequestLimiter.builder(engine).refundUnless(401).build();
    Verdict verdict = decide(limiter, "POST");
    verdict.responded(401);
    verdict.responded(200);
    verdict.abandoned();
    assertThat(decide(limiter, "POST").passes()).isFalse();
  }

  @Test
  void statusThatDoesNotCount_givesThePermitBackOnce() {
    RequestLimiter limiter = RequestLimiter.builder(engine).refundUnless(401).build();
    Verdict verdict = decide(limiter, "POST");
    verdict.responded(200);
    verdict.responded(200);
    verdict.abandoned();
    assertThat(decide(limiter, "POST").passes()).isTrue();
    assertThat(decide(limiter, "POST").passes()).isFalse();
  }

  @Test
  void requestThatTheApplicationCounts_countsWhateverItsStatus() {
    RequestLimiter limiter = RequestLimiter.builder(engine).refundUnlessCounted().build();
    Verdict given = decide(limiter, "POST");
    assertThat(given.awaitsStatus()).isTrue();
    given.responded(401);
    Verdict counted = decide(limiter, "POST");
    assertThat(counted.passes()).isTrue();
    counted.count();
    counted.responded(302);
    assertThat(decide(limiter, "POST").passes()).isFalse();
  }

  /** A limit of server errors is not one of failed logins. */
  @Test
  void callWhereOnlyStatusesCount_isWithoutEffect() {
    RequestLimiter limiter = RequestLimiter.builder(engine).refundUnless(500).build();
    Verdict verdict = decide(limiter, "POST");
    verdict.count();
    verdict.responded(302);
    assertThat(decide(limiter, "POST").passes()).isTrue();
  }

  @Test
  void statusAndCall_countBoth() {
    RequestLimiter limiter =
        RequestLimiter.builder(engine).refundUnless(401).refundUnlessCounted().build();
    Verdict given = decide(limiter, "POST");
    given.responded(200);
    given.count(); // Too late.
    Verdict byStatus = decide(limiter, "POST");
    assertThat(byStatus.passes()).isTrue();
    byStatus.responded(401);
    assertThat(decide(limiter, "POST").passes()).isFalse();
  }

  private RequestLimiter reported() {
    return RequestLimiter.builder(engine).descriptor("tokens={ip}").costsReported().build();
  }

  private static int answersOf300(RequestLimiter limiter, int requests) {
    int passed = 0;
    for (int i = 0; i < requests; i++) {
      Verdict verdict = decide(limiter, "POST");
      passed += verdict.passes() ? 1 : 0;
      verdict.responded(200);
      verdict.charge(100);
      verdict.charge(200);
    }
    return passed;
  }

  @Test
  void reportedCosts_makeADebt_thatRefusesUntilItHasPassed() {
    RequestLimiter limiter = reported();
    assertThat(answersOf300(limiter, 12)).isEqualTo(4);
    Verdict refused = decide(limiter, "POST");
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.takesReports()).isTrue();
    ticker.advance(Duration.ofMinutes(2));
    assertThat(answersOf300(limiter, 12)).as("a refused request has charged nothing").isEqualTo(4);
  }

  @Test
  void requestsThatRunAtOnce_allSeeTheSameRest() {
    RequestLimiter limiter = reported();
    List<Verdict> atOnce = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      atOnce.add(decide(limiter, "POST"));
    }
    assertThat(atOnce).allMatch(Verdict::passes);
    atOnce.forEach(verdict -> verdict.charge(300));
    assertThat(decide(limiter, "POST").passes()).isFalse();
  }

  @Test
  void reportToALimiterThatTakesNone_isWithoutEffect() {
    RequestLimiter limiter =
        RequestLimiter.builder(engine).descriptor("tokens={ip}").permits(500).build();
    Verdict verdict = decide(limiter, "POST");
    assertThat(verdict.takesReports()).isFalse();
    verdict.charge(10_000);
    Verdict.UNLIMITED.charge(10_000);
    assertThat(decide(limiter, "POST").passes()).isTrue();
  }

  @Test
  void wrongReportsAndSettings_areRefused() {
    Verdict verdict = decide(reported(), "POST");
    assertThatThrownBy(() -> verdict.charge(-1))
        .hasMessage("permits: -1 (expected: 0..4294967295)");
    assertThatThrownBy(() -> verdict.charge(1L << 32))
        .hasMessage("permits: 4294967296 (expected: 0..4294967295)");
    assertThatThrownBy(() -> RequestLimiter.builder(engine).permits(2).costsReported().build())
        .hasMessage(
            "permits: set (expected: none beside costsReported, which takes what Verdict.charge"
                + " reports)");
  }

  @Test
  void get_limitsHeadToo() {
    RequestLimiter limiter = RequestLimiter.builder(engine).methods("GET").build();
    assertThat(decide(limiter, "POST").answer()).as("not limited").isNull();
    assertThat(decide(limiter, "GET").passes()).isTrue();
    assertThat(decide(limiter, "HEAD").passes()).isFalse();
  }

  @Test
  void abandoned_isGivenBackWhateverCounts() {
    RequestLimiter limiter = RequestLimiter.builder(engine).build();
    decide(limiter, "GET").abandoned();
    assertThat(decide(limiter, "GET").passes()).isTrue();
  }

  @Test
  void status_mattersOnlyWhereItIsAskedFor() {
    RequestLimiter all = RequestLimiter.builder(engine).build();
    assertThat(decide(all, "GET").awaitsStatus()).isFalse();
    RequestLimiter failed = RequestLimiter.builder(engine).refundUnless(401).build();
    assertThat(decide(failed, "GET").awaitsStatus()).isTrue();
  }
}
