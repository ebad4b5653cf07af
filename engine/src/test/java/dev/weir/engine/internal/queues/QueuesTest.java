package dev.weir.engine.internal.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Fixture;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.Ticket;
import dev.weir.engine.UncertainStore;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.LateStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueuesTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit:
            window: 1s
            requests_per_unit: 2
            algorithm: fixed-window
            on_limit: {queue: {requests: 2, wait: 2s}}
        - key: ip
          rate_limit:
            window: 1s
            requests_per_unit: 3
            algorithm: fixed-window
            on_limit: {queue: {requests: 3, wait: 2s}}
        - key: plain
          rate_limit: {window: 1s, requests_per_unit: 1, algorithm: fixed-window}
      """;

  private static final Request USER = Request.of("d", "user", "a");

  private final Fixture fixture = new Fixture(RULES);
  private final List<String> heard = new ArrayList<>();

  private Ticket enqueue(Fixture at, String name, Request request, Duration atMost) {
    Answer refused = at.engine.decide(request);
    assertThat(refused.allowed()).isFalse();
    return at.engine.enqueue(
        request,
        refused,
        atMost.toNanos(),
        answer -> heard.add(name + (answer.allowed() ? " in" : " out")));
  }

  private Ticket enqueue(String name, Request request) {
    return enqueue(fixture, name, request, Duration.ofMinutes(1));
  }

  private void use(Request request, int times) {
    for (int i = 0; i < times; i++) {
      assertThat(fixture.engine.decide(request).allowed()).isTrue();
    }
  }

  @Test
  void refusedRequests_waitInOrder_andAreAdmittedWhenTheWindowIsOver() {
    use(USER, 2);
    enqueue("first", USER);
    enqueue("second", USER);
    assertThat(heard).isEmpty();
    fixture.ticker.advance(Duration.ofMillis(999));
    assertThat(heard).isEmpty();
    fixture.ticker.advance(Duration.ofMillis(1));
    assertThat(heard).containsExactly("first in", "second in");
    assertThat(fixture.engine.decide(USER).allowed()).as("both were charged").isFalse();
    QueueMetrics metrics = fixture.engine.metrics().queues();
    assertThat(metrics.waiting()).isZero();
    assertThat(metrics.admitted()).isEqualTo(2);
    assertThat(metrics.waitedNanos()).isEqualTo(2_000_000_000L);
    assertThat(fixture.engine.metrics().denied())
        .as("each was refused once, when it came; and the last one")
        .isEqualTo(3);
    RuleMetrics rule = fixture.engine.metrics().rules().get(2);
    assertThat(rule.path()).isEqualTo("d.user");
    assertThat(rule.withinLimit()).isEqualTo(4);
    assertThat(rule.overLimit()).isEqualTo(3);
  }

  /** One is admitted a second: of four, two have their turn within two and a half. */
  @Test
  void queuesEnd_onlyRequestsWithATurnInTimeGoOnWaiting() {
    Fixture four =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: user
                rate_limit:
                  window: 4s
                  requests_per_unit: 4
                  algorithm: token-bucket
                  on_limit: {queue: {requests: 4, wait: 9s}}
            """);
    assertThat(four.engine.decide(new Request("d", USER.descriptors(), 4)).allowed()).isTrue();
    for (int i = 1; i <= 4; i++) {
      enqueue(four, "request " + i, USER, Duration.ofMinutes(1));
    }
    four.engine.endQueues(Duration.ofMillis(2_500));
    assertThat(heard).containsExactlyInAnyOrder("request 3 out", "request 4 out");
    enqueue(four, "late", USER, Duration.ofMinutes(1));
    assertThat(heard).as("nothing is queued any more").endsWith("late out");
    four.ticker.advance(Duration.ofSeconds(1));
    four.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).endsWith("request 1 in", "request 2 in");
    assertThat(four.engine.metrics().queues().waiting()).isZero();
  }

  /** Four permits are too many in time; the one behind them has its turn. */
  @Test
  void queuesEnd_requestBehindARefusedOne_goesOnWaiting() {
    Fixture one =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: user
                rate_limit:
                  window: 4s
                  requests_per_unit: 4
                  algorithm: token-bucket
                  on_limit: {queue: {requests: 4, wait: 9s}}
            """);
    Request four = new Request("d", USER.descriptors(), 4);
    assertThat(one.engine.decide(four).allowed()).isTrue();
    enqueue(one, "four", four, Duration.ofMinutes(1));
    enqueue(one, "one", USER, Duration.ofMinutes(1));
    one.engine.endQueues(Duration.ofMillis(1_500));
    assertThat(heard).containsExactly("four out");
    one.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("four out", "one in");
  }

  @Test
  void queuesEnd_turnIsAMillisecondTooLate_isRefusedAtOnce() {
    use(USER, 2);
    enqueue("first", USER);
    fixture.engine.endQueues(Duration.ofSeconds(1));
    assertThat(heard).as("just in time").isEmpty();
    fixture.engine.endQueues(Duration.ofMillis(999));
    assertThat(heard).containsExactly("first out");
  }

  @Test
  void queueFull_nextIsRefusedAtOnce() {
    use(USER, 2);
    enqueue("first", USER);
    enqueue("second", USER);
    enqueue("third", USER);
    assertThat(heard).containsExactly("third out");
  }

  /** Checks that large requests, which a client may send as it likes, do not fill the heap. */
  @Test
  void requestsThatWaitAreTooLarge_nextIsRefusedAtOnce() {
    EngineSettings settings = new EngineSettings(false, 80, 128, 32, 4096, 2);
    Fixture two = new Fixture(RULES, settings, new MemoryStore());
    String text = "x".repeat(4096);
    Request large =
        new Request(
            "d",
            List.of(
                USER.descriptors().get(0),
                Descriptor.of("other", text),
                Descriptor.of("other", text)),
            1);
    assertThat(two.engine.decide(new Request("d", USER.descriptors(), 2)).allowed()).isTrue();
    enqueue(two, "first", large, Duration.ofMinutes(1));
    enqueue(two, "second", large, Duration.ofMinutes(1));
    assertThat(heard).containsExactly("second out");
    enqueue(two, "small", USER, Duration.ofMinutes(1));
    two.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("second out", "first in", "small in");

    two.ticker.advance(Duration.ofSeconds(1));
    assertThat(two.engine.decide(new Request("d", USER.descriptors(), 2)).allowed()).isTrue();
    enqueue(two, "later", large, Duration.ofMinutes(1));
    two.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).as("what has left takes nothing").endsWith("later in");
  }

  @Test
  void requestsAreWaitingForTheKey_newcomerIsRefusedAlsoWhenItWouldFit() {
    use(USER, 2);
    Request three = new Request("d", USER.descriptors(), 2);
    enqueue("first", three);
    fixture.ticker.advance(Duration.ofMillis(500));
    assertThat(fixture.engine.decide(USER).allowed()).isFalse();
    assertThat(fixture.engine.decide(Request.of("d", "user", "b")).allowed())
        .as("another key")
        .isTrue();
    fixture.ticker.advance(Duration.ofMillis(500));
    assertThat(heard).containsExactly("first in");
  }

  @Test
  void newcomerBehindAQueue_isNotChargedForItsOtherLimits() {
    Request both =
        new Request(
            "d",
            List.of(Request.of("d", "plain", "x").descriptors().get(0), USER.descriptors().get(0)),
            1);
    use(USER, 2);
    enqueue("first", USER);
    assertThat(fixture.engine.decide(both).allowed()).isFalse();
    assertThat(fixture.engine.decide(Request.of("d", "plain", "x")).allowed()).isTrue();
  }

  @Test
  void hopelessWait_isRefusedAtOnce() {
    use(USER, 2);
    enqueue(fixture, "impatient", USER, Duration.ofMillis(500));
    assertThat(heard).containsExactly("impatient out");
  }

  @Test
  void waitBehindOthersIsHopeless_isRefusedAtOnce() {
    use(USER, 2);
    Request two = new Request("d", USER.descriptors(), 2);
    enqueue("first", two);
    enqueue(fixture, "second", two, Duration.ofMillis(1_500));
    assertThat(heard).containsExactly("second out");
    fixture.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("second out", "first in");
  }

  @Test
  void othersTakeTheNextWindow_isRefusedAsSoonAsItsTimeCannotSuffice() {
    MemoryStore store = new MemoryStore();
    Fixture own = new Fixture(RULES, EngineSettings.DEFAULTS, store);
    Engine other = Engine.create(store, own.ticker, EngineSettings.DEFAULTS);
    other.apply(Fixture.rules(RULES));
    assertThat(own.engine.decide(new Request("d", USER.descriptors(), 2)).allowed()).isTrue();
    own.ticker.schedule(
        1_000_000_000L,
        () -> {
          other.decide(USER, answer -> heard.add("another process"));
          other.decide(USER, answer -> heard.add("another process"));
        });
    enqueue(own, "waits", USER, Duration.ofMillis(1_500));
    own.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("another process", "another process", "waits out");
  }

  @Test
  void firstForOneKeyButRefusedForAnother_holdsUpThoseBehindUntilItIsServed() {
    Request ip = Request.of("d", "ip", "x");
    Request both = new Request("d", List.of(USER.descriptors().get(0), ip.descriptors().get(0)), 1);
    use(USER, 2);
    use(ip, 2);
    enqueue("for both", both);
    assertThat(fixture.engine.decide(ip).allowed()).as("one is in the queue of ip, too").isFalse();
    enqueue("for ip", ip);
    fixture.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("for both in", "for ip in");
  }

  @Test
  void whoLeaves_isNeitherCalledNorCharged_andTheNextMovesUp() {
    use(USER, 2);
    Ticket first = enqueue("first", USER);
    enqueue("second", USER);
    assertThat(first.leave()).isTrue();
    assertThat(first.leave()).isFalse();
    fixture.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("second in");
    assertThat(fixture.engine.decide(USER).allowed()).as("only the second was charged").isTrue();
    assertThat(fixture.engine.metrics().queues().left()).isEqualTo(1);
  }

  @Test
  void ruleWithoutAQueue_refusesAtOnce() {
    Request plain = Request.of("d", "plain", "x");
    use(plain, 1);
    enqueue("plain", plain);
    assertThat(heard).containsExactly("plain out");
    assertThat(fixture.engine.decide(plain).maxWaitNanos()).isZero();
    assertThat(fixture.engine.decide(USER).maxWaitNanos()).as("admitted").isZero();
  }

  @Test
  void allPlacesTaken_isRefusedAtOnce() {
    Fixture small =
        new Fixture(RULES, new EngineSettings(false, 80, 128, 32, 4096, 1), new MemoryStore());
    small.engine.decide(new Request("d", USER.descriptors(), 2));
    enqueue(small, "first", USER, Duration.ofMinutes(1));
    enqueue(small, "second", USER, Duration.ofMinutes(1));
    assertThat(heard).containsExactly("second out");
  }

  @Test
  void close_answersAllThatWait() {
    use(USER, 2);
    enqueue("first", USER);
    enqueue("second", USER);
    fixture.engine.close();
    assertThat(heard).containsExactlyInAnyOrder("first out", "second out");
  }

  @Test
  void whoWaitsNoLonger_leavesNoTimer() {
    use(USER, 2);
    Ticket first = enqueue("first", USER);
    assertThat(fixture.ticker.scheduled()).as("its turn and its end").isEqualTo(2);
    first.leave();
    assertThat(fixture.ticker.scheduled()).isZero();
    enqueue("second", USER);
    enqueue("third", USER);
    fixture.ticker.advance(Duration.ofSeconds(1));
    assertThat(heard).containsExactly("second in", "third in");
    assertThat(fixture.ticker.scheduled()).isZero();
    use(Request.of("d", "user", "b"), 2);
    enqueue("last", Request.of("d", "user", "b"));
    fixture.engine.close();
    assertThat(fixture.ticker.scheduled()).isZero();
  }

  @Test
  void whoLeavesWhileTheStoreDecides_getsItsPermitsBack() {
    LateStore late = new LateStore();
    Fixture at = new Fixture(RULES, EngineSettings.DEFAULTS, late);
    List<Answer> answers = new ArrayList<>();
    Request two = new Request("d", USER.descriptors(), 2);
    at.engine.decide(two, answers::add);
    late.answer();
    at.engine.decide(two, answers::add);
    late.answer();
    Ticket ticket =
        at.engine.enqueue(two, answers.get(1), Long.MAX_VALUE, answer -> heard.add("never called"));
    at.ticker.advance(Duration.ofSeconds(1));
    assertThat(ticket.leave()).as("the store has not answered").isTrue();
    late.answer();
    late.answer();
    assertThat(heard).isEmpty();
    at.engine.decide(two, answers::add);
    late.answer();
    assertThat(answers.get(2).allowed()).as("given back").isTrue();
  }

  @Test
  void storeFails_nobodyWaits() {
    Store store = new UncertainStore(new ArrayList<>());
    Fixture at = new Fixture(RULES, EngineSettings.DEFAULTS, store);
    List<Answer> answers = new ArrayList<>();
    at.engine.decide(USER, answers::add);
    Answer answer = answers.get(0);
    assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(answer.maxWaitNanos()).as("waiting would not help").isZero();
  }
}
