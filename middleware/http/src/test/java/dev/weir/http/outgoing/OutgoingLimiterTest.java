package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.rules.Descriptor;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutgoingLimiterTest {
  private static final long SECOND = 1_000_000_000L;
  private static final OutgoingRequest A = FakeRequest.to("a.test");
  private static final OutgoingRequest B = FakeRequest.to("b.test");

  private final FakeTicker ticker = new FakeTicker(1_700_000_000 * SECOND);
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private final List<Admission> admissions = new ArrayList<>();

  @AfterEach
  void close() {
    engine.close();
  }

  /** Returns a builder of a limiter with one request per second and host. */
  private OutgoingLimiter.Builder oneASecond() {
    RuleSet rules =
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: partners
                    descriptors:
                      - key: host
                        rate_limit: {unit: second, requests_per_unit: 1}
                    """)
                .ruleSet());
    engine.apply(rules);
    return remembering().rules(engine, "partners").descriptor("host={host}");
  }

  private OutgoingLimiter.Builder remembering() {
    return OutgoingLimiter.builder().ticker(ticker);
  }

  private @Nullable LocalRefusal refusal(OutgoingLimiter limiter, OutgoingRequest request) {
    return admit(limiter, request).refusal();
  }

  private Admission admit(OutgoingLimiter limiter, OutgoingRequest request) {
    int before = admissions.size();
    limiter.admit(request, admissions::add);
    assertThat(admissions).hasSize(before + 1);
    return admissions.get(before);
  }

  /** Sends a request, and answers it. */
  private void exchange(
      OutgoingLimiter limiter, OutgoingRequest request, int status, Map<String, String> fields) {
    Admission admission = admit(limiter, request);
    assertThat(admission.refusal()).isNull();
    received(admission, request, status, fields);
  }

  private static void received(
      Admission admission, OutgoingRequest request, int status, Map<String, String> fields) {
    admission.received(
        request, status, name -> fields.containsKey(name) ? List.of(fields.get(name)) : List.of());
  }

  @Test
  void overTheLimit_isRefusedWith429AndWhenToRetry() {
    OutgoingLimiter limiter = oneASecond().build();
    assertThat(refusal(limiter, A)).isNull();
    LocalRefusal refused = Objects.requireNonNull(refusal(limiter, A));
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.retryAfter()).isEqualTo("1");
    assertThat(refused.answer()).isNotNull();
    assertThat(refused.message())
        .isEqualTo(
            "a.test: not sent. Policy partners.host allows 1 request per 1 s. Retry in 1 s.");
    assertThat(refusal(limiter, B)).isNull();
  }

  @Test
  void requestThatCannotBeDecided_isRefusedWith503() {
    OutgoingLimiter limiter = oneASecond().descriptor("x=").build();
    LocalRefusal refused =
        Objects.requireNonNull(
            refusal(
                remembering()
                    .rules(engine, "")
                    .descriptors(request -> List.of(Descriptor.of()))
                    .build(),
                A));
    assertThat(limiter.waiting()).isZero();
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(refused.retryAfter()).isNull();
    assertThat(refused.message()).startsWith("a.test: not sent. ");
  }

  @Test
  void requestWithoutDescriptors_isNotAsked() {
    oneASecond();
    OutgoingLimiter limiter =
        remembering().rules(engine, "partners").descriptors(request -> List.of()).build();
    assertThat(refusal(limiter, A)).isNull();
    assertThat(refusal(limiter, A)).isNull();
  }

  @Test
  void refusedRequest_waitsAndPasses() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofSeconds(1)).build();
    admit(limiter, A);
    limiter.admit(A, admissions::add);
    assertThat(limiter.waiting()).isEqualTo(1);
    ticker.advance(SECOND - 1);
    assertThat(admissions).hasSize(1);
    ticker.advance(1);
    assertThat(admissions).hasSize(2);
    assertThat(admissions.get(1).refusal()).isNull();
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void waitThatWouldTakeTooLong_isRefusedAtOnce() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofMillis(999)).build();
    admit(limiter, A);
    assertThat(refusal(limiter, A)).isNotNull();
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void requestOvertakenWhileItWaits_isRefusedWhenItIsTooLate() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofMillis(1500)).build();
    admit(limiter, A);
    limiter.admit(A, admissions::add);
    limiter.admit(A, admissions::add);
    ticker.advance(SECOND);
    assertThat(admissions).hasSize(3);
    assertThat(admissions.get(1).refusal()).isNull();
    assertThat(admissions.get(2).refusal()).isNotNull();
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void requestThatLeaves_isNotChargedAndNotAnswered() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofSeconds(5)).build();
    admit(limiter, A);
    Ticket ticket = limiter.admit(A, admissions::add);
    assertThat(ticket.leave()).isTrue();
    assertThat(ticket.leave()).isFalse();
    assertThat(limiter.waiting()).isZero();
    assertThat(ticker.scheduled()).isZero();
    ticker.advance(2 * SECOND);
    assertThat(admissions).hasSize(1);
    assertThat(refusal(limiter, A)).isNull();
  }

  @Test
  void admittedRequest_cannotLeave() {
    OutgoingLimiter limiter = oneASecond().build();
    assertThat(limiter.admit(A, admissions::add).leave()).isFalse();
  }

  @Test
  void requestNotSent_isGivenBackOnce() {
    OutgoingLimiter limiter = oneASecond().build();
    Admission admission = admit(limiter, A);
    admission.notSent();
    admission.notSent();
    assertThat(refusal(limiter, A)).isNull();
    assertThat(refusal(limiter, A)).isNotNull();
  }

  @Test
  void requestReceived_isNotGivenBack() {
    OutgoingLimiter limiter = oneASecond().build();
    Admission admission = admit(limiter, A);
    received(admission, A, 200, Map.of());
    admission.notSent();
    assertThat(refusal(limiter, A)).isNotNull();
  }

  @Test
  void oneWaitsTooMany_isRefused() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofSeconds(5)).maxWaiting(1).build();
    admit(limiter, A);
    limiter.admit(A, admissions::add);
    assertThat(refusal(limiter, A)).isNotNull();
    assertThat(limiter.waiting()).isEqualTo(1);
  }

  @Test
  void serviceThatRefuses_isNotAskedUntilItSays() {
    OutgoingLimiter limiter = remembering().build();
    exchange(limiter, A, 429, Map.of("Retry-After", "7"));
    LocalRefusal refused = Objects.requireNonNull(refusal(limiter, A));
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.retryAfter()).isEqualTo("7");
    assertThat(refused.answer()).isNull();
    assertThat(refused.message())
        .isEqualTo("a.test: not sent. It answered 429 and wants no requests for 7 s.");
    assertThat(refusal(limiter, B)).isNull();
    ticker.advance(7 * SECOND);
    assertThat(refusal(limiter, A)).isNull();
  }

  @Test
  void serviceThatIsUnavailable_isRepeatedAsSuch() {
    OutgoingLimiter limiter = remembering().build();
    exchange(limiter, A, 503, Map.of("Retry-After", "7"));
    assertThat(refusal(limiter, A)).extracting(LocalRefusal::status).isEqualTo(503);
  }

  @Test
  void otherStatus_isNotRemembered() {
    OutgoingLimiter limiter = remembering().build();
    for (int status : List.of(200, 301, 403, 500, 502)) {
      exchange(limiter, A, status, Map.of("Retry-After", "7", "RateLimit", "\"a\";r=0;t=7"));
    }
    assertThat(limiter.remembered()).isZero();
  }

  @Test
  void rateLimitField_countsWhereRetryAfterIsAbsent() {
    OutgoingLimiter limiter = remembering().build();
    exchange(limiter, A, 429, Map.of("RateLimit", "\"a\";r=0;t=9"));
    assertThat(refusal(limiter, A)).extracting(LocalRefusal::retryAfter).isEqualTo("9");
    exchange(limiter, B, 429, Map.of("Retry-After", "2", "RateLimit", "\"a\";r=0;t=9"));
    assertThat(refusal(limiter, B)).extracting(LocalRefusal::retryAfter).isEqualTo("2");
  }

  @Test
  void longRetryAfter_isPassedOnAndKeptForLess() {
    OutgoingLimiter limiter = remembering().build();
    exchange(limiter, A, 429, Map.of("Retry-After", "9".repeat(60)));
    assertThat(refusal(limiter, A)).extracting(LocalRefusal::retryAfter).isEqualTo("999999999");
    exchange(limiter, B, 429, Map.of("Retry-After", "3600"));
    ticker.advance(30 * SECOND - 1);
    assertThat(refusal(limiter, B)).extracting(LocalRefusal::retryAfter).isEqualTo("3571");
    ticker.advance(1);
    assertThat(refusal(limiter, B)).isNull();
    OutgoingLimiter patient = remembering().maxWait(Duration.ofMinutes(1)).build();
    exchange(patient, A, 429, Map.of("Retry-After", "3600"));
    patient.admit(A, admissions::add);
    int before = admissions.size();
    ticker.advance(30 * SECOND); // It waits until it may try again, not for the stated hour.
    assertThat(admissions).hasSize(before + 1);
    assertThat(admissions.get(before).refusal()).isNull();
    OutgoingLimiter forgetful = remembering().maxRemembered(Duration.ZERO).build();
    exchange(forgetful, A, 429, Map.of("Retry-After", "5"));
    assertThat(refusal(forgetful, A)).isNull();
  }

  @Test
  void badFields_areIgnored() {
    OutgoingLimiter limiter = remembering().build();
    for (String value :
        List.of("", "-1", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "7".repeat(65_536))) {
      exchange(limiter, A, 429, Map.of("Retry-After", value, "Date", value));
      exchange(limiter, A, 429, Map.of("RateLimit", value));
    }
    assertThat(limiter.remembered()).isZero();
  }

  @Test
  void callersOfOneService_areToldApartByAuthorization() {
    OutgoingLimiter limiter = remembering().build();
    OutgoingRequest alice = new FakeRequest("GET", "a.test", 443, "/", "Bearer alice");
    OutgoingRequest bob = new FakeRequest("GET", "a.test", 443, "/", "Bearer bob");
    exchange(limiter, alice, 429, Map.of("Retry-After", "7"));
    assertThat(refusal(limiter, alice)).isNotNull();
    assertThat(refusal(limiter, bob)).isNull();
    OutgoingLimiter byHost = remembering().key(request -> "").build();
    exchange(byHost, alice, 429, Map.of("Retry-After", "7"));
    assertThat(refusal(byHost, bob)).isNotNull();
  }

  @Test
  void successOfAnEarlierRequest_doesNotForget() {
    OutgoingLimiter limiter = remembering().build();
    Admission early = admit(limiter, A);
    ticker.advance(1);
    exchange(limiter, A, 429, Map.of("Retry-After", "7"));
    received(early, A, 200, Map.of());
    assertThat(refusal(limiter, A)).isNotNull();
  }

  @Test
  void successOfALaterRedirect_forgets() {
    OutgoingLimiter limiter = remembering().build();
    exchange(limiter, A, 429, Map.of("Retry-After", "7"));
    Admission redirected = admit(limiter, B);
    received(redirected, A, 500, Map.of());
    assertThat(refusal(limiter, A)).isNotNull();
    received(redirected, A, 204, Map.of());
    assertThat(refusal(limiter, A)).isNull();
  }

  @Test
  void serviceThatRefuses_isWaitedFor() {
    OutgoingLimiter limiter = oneASecond().maxWait(Duration.ofSeconds(7)).build();
    exchange(limiter, A, 429, Map.of("Retry-After", "7"));
    limiter.admit(A, admissions::add);
    ticker.advance(7 * SECOND - 1);
    assertThat(admissions).hasSize(1);
    ticker.advance(1);
    assertThat(admissions).hasSize(2);
    assertThat(admissions.get(1).refusal()).isNull();
  }

  @Test
  void serviceThatRefusesMeanwhile_hasAnAdmittedRequestGivenBack() {
    Late late = new Late();
    OutgoingLimiter limiter =
        remembering().rules(late, "partners").descriptor("host={host}").build();
    limiter.admit(A, admissions::add);
    late.answer();
    Admission first = admissions.get(0);
    limiter.admit(A, admissions::add);
    received(first, A, 429, Map.of("Retry-After", "7"));
    late.answer();
    assertThat(admissions).hasSize(2);
    assertThat(admissions.get(1).refusal()).isNotNull();
    assertThat(late.refunds).isEqualTo(1);
  }

  @Test
  void requestThatLeavesWhileTheRulesAreAsked_isGivenBack() {
    Late late = new Late();
    OutgoingLimiter limiter =
        remembering().rules(late, "partners").descriptor("host={host}").build();
    assertThat(limiter.admit(A, admissions::add).leave()).isTrue();
    late.answer();
    assertThat(admissions).isEmpty();
    assertThat(late.refunds).isEqualTo(1);
  }

  @Test
  void engineWithAQueue_admitsInOrderWhatFits() {
    engine.apply(
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: partners
                    descriptors:
                      - key: host
                        rate_limit:
                          unit: second
                          requests_per_unit: 2
                          algorithm: fixed-window
                          on_limit: {queue: {requests: 2, wait: 5s}}
                    """)
                .ruleSet()));
    OutgoingLimiter limiter =
        remembering()
            .rules(engine, "partners")
            .descriptor("host={host}")
            .maxWait(Duration.ofSeconds(5))
            .build();
    List<String> order = new ArrayList<>();
    List<Ticket> tickets = new ArrayList<>();
    for (String name : List.of("first", "second", "third", "fourth", "fifth")) {
      tickets.add(
          limiter.admit(A, given -> order.add(given.refusal() == null ? name : name + " refused")));
    }
    assertThat(order).containsExactly("first", "second", "fifth refused");
    assertThat(tickets.get(2).leave()).isTrue();
    ticker.advance(SECOND);
    assertThat(order).containsExactly("first", "second", "fifth refused", "fourth");
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void valuesOfATemplate_areThoseOfTheRequest() {
    List<Request> asked = new ArrayList<>();
    Late late = new Late(asked);
    remembering()
        .rules(late, "partners")
        .descriptor("api=a,path={path},method={method},host={host}")
        .descriptor("caller={secret:Authorization}")
        .build()
        .admit(new FakeRequest("PUT", "a.test", 443, "/x,y", null), admissions::add);
    assertThat(asked)
        .containsExactly(
            new Request(
                "partners",
                List.of(
                    Descriptor.of("api", "a", "path", "/x,y", "method", "PUT", "host", "a.test"),
                    Descriptor.of("caller", "")),
                1));
  }

  @Test
  void ruleWithAQueue_hasTheRequestWaitInThat() {
    Queueing rules = new Queueing();
    OutgoingLimiter limiter =
        remembering()
            .rules(rules, "partners")
            .descriptor("host={host}")
            .maxWait(Duration.ofSeconds(2))
            .build();
    limiter.admit(A, admissions::add);
    limiter.admit(A, SECOND, admissions::add);
    assertThat(rules.maxWaits).containsExactly(2 * SECOND, SECOND);
    assertThat(limiter.waiting()).isEqualTo(2);
    rules.queue.get(0).accept(Answer.of(true, List.of(), null, 1));
    rules.queue.get(1).accept(rules.refused);
    assertThat(limiter.waiting()).isZero();
    assertThat(admissions).hasSize(2);
    assertThat(admissions.get(0).refusal()).isNull();
    assertThat(admissions.get(1).refusal())
        .extracting(LocalRefusal::status, LocalRefusal::retryAfterNanos)
        .containsExactly(429, SECOND);
  }

  @Test
  void requestThatLeavesAQueue_leavesThatOfItsRule() {
    Queueing rules = new Queueing();
    OutgoingLimiter limiter =
        remembering()
            .rules(rules, "partners")
            .descriptor("host={host}")
            .maxWait(Duration.ofSeconds(2))
            .build();
    assertThat(limiter.admit(A, admissions::add).leave()).isTrue();
    assertThat(rules.left).isEqualTo(1);
    rules.queue.get(0).accept(Answer.of(true, List.of(), null, 1)); // It was just being admitted.
    assertThat(rules.refunds).isEqualTo(1);
    assertThat(admissions).isEmpty();
    assertThat(limiter.waiting()).isZero();
  }

  /** A test that sees it wait moves the time: it must have its place by then. */
  @Test
  void request_isSeenToWait_onceItIsQueued() {
    Queueing rules = new Queueing();
    OutgoingLimiter limiter =
        remembering()
            .rules(rules, "partners")
            .descriptor("host={host}")
            .maxWait(Duration.ofSeconds(2))
            .build();
    List<Integer> waiting = new ArrayList<>();
    rules.beforeEnqueued = () -> waiting.add(limiter.waiting());
    limiter.admit(A, admissions::add);
    limiter.admit(A, admissions::add);
    assertThat(waiting).containsExactly(0, 1);
    assertThat(limiter.waiting()).isEqualTo(2);
  }

  @Test
  void oneTooManyForItsRulesQueue_isRefusedAndLeavesIt() {
    Queueing rules = new Queueing();
    OutgoingLimiter limiter =
        remembering()
            .rules(rules, "partners")
            .descriptor("host={host}")
            .maxWait(Duration.ofSeconds(2))
            .maxWaiting(1)
            .build();
    // Another one takes the only place while this one is queued.
    rules.beforeEnqueued =
        () -> {
          rules.beforeEnqueued = () -> {};
          limiter.admit(B, admissions::add);
        };
    assertThat(refusal(limiter, A)).isNotNull();
    assertThat(rules.left).isEqualTo(1);
    assertThat(limiter.waiting()).isEqualTo(1);
    assertThat(refusal(limiter, A)).isNotNull();
    assertThat(rules.queue).as("the last one was not queued").hasSize(2);
  }

  @Test
  void requestThatMayNotWait_isInNoQueue() {
    Queueing rules = new Queueing();
    OutgoingLimiter limiter =
        remembering().rules(rules, "partners").descriptor("host={host}").build();
    assertThat(refusal(limiter, A)).isNotNull();
    assertThat(rules.queue).isEmpty();
  }

  @Test
  void buildersValues_areChecked() {
    OutgoingLimiter.Builder builder = OutgoingLimiter.builder();
    assertThatThrownBy(() -> builder.maxWait(Duration.ofSeconds(-1)))
        .hasMessage("maxWait: PT-1S (expected: 0 s to 24 h)");
    assertThatThrownBy(() -> builder.maxRemembered(Duration.ofDays(2)))
        .hasMessage("maxRemembered: PT48H (expected: 0 s to 24 h)");
    assertThatThrownBy(() -> builder.maxWaiting(-1))
        .hasMessage("maxWaiting: -1 (expected: 0..1000000)");
    assertThatThrownBy(() -> builder.descriptor("user={header:X|login}"))
        .hasMessage(
            "descriptor user={header:X|login}: {login} (expected: what an outgoing request has,"
                + " such as {host})");
    assertThatThrownBy(() -> OutgoingLimiter.builder().descriptor("host={host}").build())
        .hasMessage("rules: none (expected: rules for the descriptors)");
    assertThatThrownBy(() -> OutgoingLimiter.builder().rules(engine, "partners").build())
        .hasMessage("descriptor: none (expected: at least one, for rules)");
  }

  /** A decider that admits every request, at the test's command. */
  private static final class Late implements Decider {
    private final List<Consumer<? super Answer>> asked = new ArrayList<>();
    private final List<Request> requests;
    private int refunds;

    Late() {
      this(new ArrayList<>());
    }

    Late(List<Request> requests) {
      this.requests = requests;
    }

    void answer() {
      List<Consumer<? super Answer>> now = List.copyOf(asked);
      asked.clear();
      now.forEach(done -> done.accept(Answer.of(true, List.of(), null, 1)));
    }

    @Override
    public void decide(Request request, Consumer<? super Answer> done) {
      requests.add(request);
      asked.add(done);
    }

    @Override
    public void peek(Request request, Consumer<? super Answer> done) {
      decide(request, done);
    }

    @Override
    public void refund(Request request, Answer answer, LongConsumer done) {
      refunds++;
      done.accept(1);
    }

    @Override
    public Ticket enqueue(
        Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
      throw new UnsupportedOperationException("not asked for");
    }
  }

  /** A decider that refuses every request, with a queue that the test empties. */
  private static final class Queueing implements Decider {
    private final Policy policy = Policy.of(Quota.perSecond(1));
    private final Answer refused =
        Answer.of(
            false,
            List.of(
                new Status(
                    false,
                    null,
                    new Decision(false, Reason.OVER_LIMIT, "a", 1, 0, SECOND, SECOND, 0),
                    new CurrentLimit(1, null, "", policy, new QueueBounds(9, 9 * SECOND)),
                    0,
                    1)),
            null,
            1);
    private final List<Consumer<? super Answer>> queue = new ArrayList<>();
    private final List<Long> maxWaits = new ArrayList<>();
    private Runnable beforeEnqueued = () -> {};
    private int left;
    private int refunds;

    @Override
    public void decide(Request request, Consumer<? super Answer> done) {
      done.accept(refused);
    }

    @Override
    public void peek(Request request, Consumer<? super Answer> done) {
      done.accept(refused);
    }

    @Override
    public void refund(Request request, Answer answer, LongConsumer done) {
      refunds++;
      done.accept(1);
    }

    @Override
    public Ticket enqueue(
        Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
      beforeEnqueued.run();
      queue.add(done);
      maxWaits.add(maxWaitNanos);
      return () -> {
        left++;
        return true;
      };
    }
  }
}
