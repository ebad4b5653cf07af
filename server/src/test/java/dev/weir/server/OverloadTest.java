package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whoever has waited too long for his turn is told so, and not charged. */
class OverloadTest {
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 1}
        - key: lenient
          rate_limit: {unit: minute, requests_per_unit: 1, on_failure: allow}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: minute, requests_per_unit: 1}
      """;

  private final FakeTicker ticker = new FakeTicker();

  @AfterEach
  void calm() {
    LoopLag.here(new LoopLag(Long.MAX_VALUE, 0));
  }

  /** Has the loop been called now, or two seconds ago when it may be late by one. */
  private void overloaded(boolean overloaded) {
    LoopLag.here(new LoopLag(SECOND, ticker.nanos() - (overloaded ? 2 * SECOND : 0)));
  }

  @Test
  void aLoopIsBehind_ifItComesLateByMoreThanItMay() {
    LoopLag lag = new LoopLag(SECOND, 0);
    long beat = LoopLag.BEAT_MILLIS * 1_000_000L;
    assertThat(lag.overloaded(beat + SECOND)).isFalse();
    assertThat(lag.overloaded(beat + SECOND + 1)).isTrue();
    lag.beat(beat + SECOND + 2);
    assertThat(lag.overloaded(beat + SECOND + 2)).isFalse();
  }

  private Engine engine() {
    Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
    RuleSet rules = Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet());
    engine.apply(rules);
    return engine;
  }

  private static Answer ask(Decider decider, String key) {
    Answer[] answer = new Answer[1];
    Descriptor descriptor = new Descriptor(List.of(new Entry(key, "x")), null, null);
    decider.decide(new Request("test", List.of(descriptor), 1), decided -> answer[0] = decided);
    return answer[0];
  }

  private static Reason reason(Answer answer) {
    return Objects.requireNonNull(answer.statuses().get(0).decision()).reason();
  }

  @Test
  void rules_answerOverloadAsTheirFailure_andChargeNothing() {
    try (Engine engine = engine()) {
      Decider decider = new Decider(engine, Load.of(ServerSettings.defaults(), ticker), ticker);
      overloaded(true);
      for (int i = 0; i < 3; i++) {
        assertThat(ask(decider, "user").allowed()).isFalse();
        assertThat(reason(ask(decider, "user"))).isEqualTo(Reason.OVERLOADED);
        assertThat(ask(decider, "lenient").allowed()).isTrue();
        assertThat(ask(decider, "watched").allowed()).isTrue();
        assertThat(ask(decider, "none").allowed()).isTrue();
      }
      assertThat(ask(decider, "user").statuses().get(0).durationUntilResetSeconds()).isOne();
      assertThat(engine.metrics().overloaded()).isEqualTo(16);
      assertThat(engine.metrics().keys()).isZero();
      overloaded(false);
      assertThat(ask(decider, "user").allowed()).isTrue();
      assertThat(ask(decider, "user").allowed()).isFalse();
    }
  }

  @Test
  void throttles_areToldAnError_inTheirOrder() throws Exception {
    try (Engine engine = engine()) {
      ThrottleTable table = new ThrottleTable(10, 1 << 20, 0);
      RespWriter out = new RespWriter(64);
      RespCommands commands =
          new RespCommands(
              new Decider(engine, Load.of(ServerSettings.defaults(), ticker), ticker),
              Tokens.notRequired(),
              new ThrottleCalls(table),
              out);
      run(commands);
      overloaded(true);
      run(commands);
      overloaded(false);
      run(commands);
      commands.finish(ticker.nanos());
      String replies = new String(out.bytes(), 0, out.size(), StandardCharsets.US_ASCII);
      assertThat(replies.replace("\r\n", "|"))
          .isEqualTo(
              "*5|:0|:2|:1|:-1|:500|"
                  + "-OVERLOADED the server is behind with its work, nothing was decided|"
                  + "*5|:0|:2|:0|:-1|:1000|");
      assertThat(table.overloaded.sum()).isOne();
      assertThat(table.requests()).isEqualTo(2);
    }
  }

  private void run(RespCommands commands) throws RespError {
    byte[] bytes = "CL.THROTTLE k 1 1 500\r\n".getBytes(StandardCharsets.US_ASCII);
    RespParser parser = new RespParser(10, 100, 100);
    assertThat(parser.parse(bytes, 0, bytes.length)).isEqualTo(bytes.length);
    commands.run(
        new RespSession(1, true), new RespArguments(parser).of(parser, bytes, 0), 0, answer -> {});
  }
}
