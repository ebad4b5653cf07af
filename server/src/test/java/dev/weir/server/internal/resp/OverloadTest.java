package dev.weir.server.internal.resp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.CallerBucketsMetrics;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.guard.LoopLag;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a command that has waited too long is answered OVERLOADED and not charged. */
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

  /**
   * Makes the loop's turn come in time, or two seconds late for the third time, when one second is
   * allowed.
   */
  private void overloaded(boolean overloaded) {
    long begin = ticker.nanos() - 6 * SECOND;
    LoopLag lag = new LoopLag(SECOND, overloaded ? begin : ticker.nanos());
    for (int turn = 1; overloaded && turn <= 2; turn++) {
      lag.overloaded(begin + 2 * SECOND * turn, LoopLag.MIN_ASKED);
      lag.beat(begin + 2 * SECOND * turn);
    }
    LoopLag.here(lag);
  }

  /** A loop with its time, in milliseconds. */
  private static final class Turns {
    private final LoopLag lag = new LoopLag(SECOND, 0);
    private long now;

    /** Returns whether the last request in a turn of that length would be refused. */
    boolean turn(long millis, int questions) {
      now += millis * 1_000_000;
      boolean overloaded = lag.overloaded(now, questions);
      lag.beat(now);
      return overloaded;
    }
  }

  @Test
  void workThatQueuesUp_isSeenInTheThirdLateTurnRunning() {
    Turns turns = new Turns();
    assertThat(turns.turn(20, 1_000)).isFalse();
    assertThat(turns.turn(3_000, 1_000)).isFalse();
    assertThat(turns.turn(3_000, 1_000)).isFalse();
    assertThat(turns.turn(3_000, 1_000)).isTrue();
    assertThat(turns.turn(3_000, 1_000)).isTrue();
    // Requests read at the beginning of a turn, or after a short one, have not waited that long.
    assertThat(turns.turn(1_020, 1_000)).isFalse();
    assertThat(turns.turn(1_021, 1_000)).isTrue();
  }

  @Test
  void turnThatRefusalsHaveMadeShort_doesNotMakeForgetTheOthers() {
    Turns turns = new Turns();
    for (int i = 0; i < 4; i++) {
      turns.turn(3_000, 1_000);
    }
    for (int i = 0; i < 20; i++) {
      assertThat(turns.turn(900, 1_000)).isFalse();
      assertThat(turns.turn(3_000, 1_000)).as("round %s", i).isTrue();
    }
  }

  @Test
  void backlogThatIsGone_isForgottenWithinFourBeats() {
    Turns turns = new Turns();
    for (int i = 0; i < 100; i++) {
      turns.turn(3_000, 1_000);
    }
    for (int i = 0; i < LoopLag.MAX_BAD_TURNS; i++) {
      turns.turn(20, 0);
    }
    assertThat(turns.turn(3_000, 1_000)).isFalse();
    assertThat(turns.turn(3_000, 1_000)).isFalse();
  }

  /** For example a machine without a free processor, or a garbage collection, however long. */
  @Test
  void oneStall_refusesNobody_norDoesItsBacklog() {
    Turns turns = new Turns();
    turns.turn(20, 1_000);
    assertThat(turns.turn(60_000, 5_000)).isFalse();
    assertThat(turns.turn(4_000, 50_000)).isFalse();
    for (int i = 0; i < 10; i++) {
      assertThat(turns.turn(20, 1_000)).isFalse();
    }
    assertThat(turns.turn(60_000, 5_000)).isFalse();
  }

  /** Class after class is loaded, by a few requests, on a machine that is starved. */
  @Test
  void fewQuestions_areNoLoad_howeverOftenTheLoopIsLate() {
    Turns turns = new Turns();
    for (int i = 0; i < 100; i++) {
      assertThat(turns.turn(5_000, LoopLag.MIN_ASKED - 1)).isFalse();
    }
    turns.turn(5_000, LoopLag.MIN_ASKED);
    turns.turn(5_000, LoopLag.MIN_ASKED);
    assertThat(turns.turn(5_000, 1)).isTrue();
  }

  private Engine engine() {
    Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
    RuleSet rules = Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet());
    engine.apply(rules);
    return engine;
  }

  private static Answer request(GuardedDecider decider, String key) {
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
      GuardedDecider decider =
          new GuardedDecider(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker);
      overloaded(true);
      for (int i = 0; i < 3; i++) {
        assertThat(request(decider, "user").allowed()).isFalse();
        assertThat(reason(request(decider, "user"))).isEqualTo(Reason.OVERLOADED);
        assertThat(request(decider, "lenient").allowed()).isTrue();
        assertThat(request(decider, "watched").allowed()).isTrue();
        assertThat(request(decider, "none").allowed()).isTrue();
      }
      assertThat(request(decider, "user").statuses().get(0).durationUntilResetSeconds()).isOne();
      assertThat(engine.metrics().overloaded()).isEqualTo(16);
      assertThat(engine.metrics().keys()).isZero();
      overloaded(false);
      assertThat(request(decider, "user").allowed()).isTrue();
      assertThat(request(decider, "user").allowed()).isFalse();
    }
  }

  @Test
  void throttles_areToldAnError_inTheirOrder() throws Exception {
    try (Engine engine = engine()) {
      CallerBuckets buckets = new CallerBuckets(new MemoryStore(10), 0);
      RespWriter out = new RespWriter(64);
      RespCommands commands =
          new RespCommands(
              new GuardedDecider(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker),
              Tokens.notRequired(),
              new ThrottleCalls(buckets),
              out);
      run(commands);
      overloaded(true);
      run(commands);
      overloaded(false);
      run(commands);
      assertThat(commands.finish(ticker.nanos(), replies -> {})).isTrue();
      String replies = new String(out.bytes(), 0, out.size(), StandardCharsets.US_ASCII);
      assertThat(replies.replace("\r\n", "|"))
          .isEqualTo(
              "*5|:0|:2|:1|:-1|:500|"
                  + "-OVERLOADED the server is behind with its work, nothing was decided|"
                  + "*5|:0|:2|:0|:-1|:1000|");
      assertThat(buckets.metrics()).isEqualTo(new CallerBucketsMetrics(2, 0, 0, 0, 1));
    }
  }

  private void run(RespCommands commands) throws RespError {
    byte[] bytes = "CL.THROTTLE k 1 1 500\r\n".getBytes(StandardCharsets.US_ASCII);
    RespParser parser = new RespParser(10, 100, 100);
    assertThat(parser.parse(bytes, 0, bytes.length)).isEqualTo(bytes.length);
    commands.run(
        new RespSession(1, true),
        new RespArguments(parser).of(parser, bytes, 0, bytes.length),
        0,
        replies -> {});
  }
}
