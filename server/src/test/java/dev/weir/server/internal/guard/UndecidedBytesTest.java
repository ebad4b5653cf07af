package dev.weir.server.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of complete requests that wait for a slow store. */
class UndecidedBytesTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 1000}
      """;

  private static final long BUDGET = 1 << 20;

  /** The approximate bytes that the transport keeps of a call. */
  private static final long BESIDE = 4_096;

  private final FakeTicker ticker = new FakeTicker(1_000_000_000L);
  private final LateStore store = new LateStore();
  private final Engine engine = Engine.create(store, ticker, EngineSettings.DEFAULTS.lending(100));
  private final UndecidedBytes undecided = new UndecidedBytes(BUDGET);
  private final GuardedDecider decider =
      GuardedDecider.builder(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker)
          .undecided(undecided)
          .build();

  @BeforeEach
  void rules() {
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Returns a request with the longest possible value. */
  private static Request longest() {
    return Request.of("test", "user", "x".repeat(EngineSettings.DEFAULTS.maxKeyLength()));
  }

  @Test
  void request_countsUntilItIsAnswered() {
    Request request = longest();
    decider.decide(request, () -> BESIDE, answer -> {});
    assertThat(undecided.bytes()).isEqualTo(BESIDE + request.memoryBytes()).isGreaterThan(8_192);
    store.answer();
    assertThat(undecided.bytes()).isZero();
  }

  @Test
  void requestsBeyondTheBudget_areAnsweredAtOnceAndNotCharged() {
    List<Answer> answers = new ArrayList<>();
    int asked = 0;
    while (answers.isEmpty()) {
      decider.decide(longest(), () -> BESIDE, answers::add);
      asked++;
    }
    assertThat(answers.get(0).reason()).isEqualTo(Reason.OVERLOADED);
    assertThat(undecided.bytes()).isBetween(BUDGET, BUDGET + BESIDE + longest().memoryBytes());
    assertThat(store.due()).isEqualTo(asked - 1);
    store.answer();
    assertThat(answers).hasSize(asked);
    assertThat(undecided.bytes()).isZero();
    decider.decide(longest(), () -> BESIDE, answers::add);
    store.answer();
    assertThat(answers.get(asked).allowed()).isTrue();
  }

  @Test
  void requestsOfABatch_countTogether() {
    List<Request> requests = List.of(longest(), longest());
    List<List<Answer>> answers = new ArrayList<>();
    decider.decideAll(requests, () -> BESIDE, answers::add);
    assertThat(undecided.bytes()).isEqualTo(BESIDE + 2 * longest().memoryBytes());
    store.answer();
    assertThat(answers.get(0)).hasSize(2).allMatch(Answer::allowed);
    assertThat(undecided.bytes()).isZero();
  }

  @Test
  void leasesThatAreAskedFor_count() throws Exception {
    LeaseCall call = new LeaseCall();
    call.add(0, longest(), List.of(1L), false);
    List<LeaseCall.Results> results = new ArrayList<>();
    decider.lend(call, () -> BESIDE, results::add);
    assertThat(undecided.bytes()).isEqualTo(BESIDE + longest().memoryBytes());
    while (results.isEmpty()) {
      assertThat(store.answer()).isPositive();
    }
    assertThat(undecided.bytes()).isZero();
  }

  @Test
  void leasesBeyondTheBudget_areNotGranted() throws Exception {
    while (undecided.bytes() < BUDGET) {
      decider.decide(longest(), () -> BESIDE, answer -> {});
    }
    LeaseCall call = new LeaseCall();
    call.add(0, longest(), List.of(1L), false);
    List<LeaseCall.Results> results = new ArrayList<>();
    decider.lend(call, () -> BESIDE, results::add);
    assertThat(results).hasSize(1);
    Answer answer = Objects.requireNonNull(results.get(0).results().get(0).grant()).answer();
    assertThat(answer.reason()).isEqualTo(Reason.OVERLOADED);
    store.answer();
    assertThat(undecided.bytes()).isZero();
  }
}
