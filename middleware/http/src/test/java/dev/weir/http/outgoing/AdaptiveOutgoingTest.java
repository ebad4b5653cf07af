package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Ticket;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of adaptive limits on outgoing requests. */
class AdaptiveOutgoingTest {
  private static final long SECOND = 1_000_000_000L;
  private static final OutgoingRequest A = FakeRequest.to("a.test");
  private static final OutgoingRequest B = FakeRequest.to("b.test");

  private final FakeTicker ticker = new FakeTicker(1_700_000_000 * SECOND);
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private final AdaptiveLimiter one = adaptive(1);
  private final List<Admission> admissions = new ArrayList<>();

  private AdaptiveLimiter adaptive(int initial) {
    return AdaptiveLimiter.builder()
        .algorithm(AdaptiveAlgorithm.AIMD)
        .initial(initial)
        .ticker(ticker)
        .build();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private OutgoingLimiter.Builder builder() {
    return OutgoingLimiter.builder().ticker(ticker).adaptive(one);
  }

  /** Returns a builder of a limiter with a rule as well: ten requests an hour. */
  private OutgoingLimiter.Builder withRule() {
    engine.apply(
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: partners
                    descriptors:
                      - key: host
                        rate_limit: {unit: hour, requests_per_unit: 10}
                    """)
                .ruleSet()));
    return builder().rules(engine, "partners").descriptor("host={host}");
  }

  private long left() {
    AtomicLong left = new AtomicLong();
    engine.peek(
        Request.of("partners", "host", "a.test"),
        answer ->
            left.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return left.get();
  }

  private Admission admit(OutgoingLimiter limiter, OutgoingRequest request) {
    int before = admissions.size();
    Ticket unused = limiter.admit(request, admissions::add);
    assertThat(admissions).hasSize(before + 1);
    return admissions.get(before);
  }

  private static void received(Admission admission, int status, String... retryAfter) {
    Map<String, List<String>> fields =
        retryAfter.length == 0 ? Map.of() : Map.of("Retry-After", List.of(retryAfter));
    admission.received(A, status, name -> fields.getOrDefault(name, List.of()));
  }

  @Test
  void beyondTheLimit_isRefusedWith503() {
    OutgoingLimiter limiter = withRule().build();
    Admission sent = admit(limiter, A);
    assertThat(sent.holdsSeat()).isTrue();
    LocalRefusal refused = Objects.requireNonNull(admit(limiter, A).refusal());
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(refused.retryAfter()).isNull();
    assertThat(refused.message())
        .isEqualTo(
            "a.test: not sent. As many requests are in flight as it can take now, which are 1.");
    assertThat(left()).as("the refused one is not charged").isEqualTo(9);
    received(sent, 200);
    assertThat(one.inFlight()).isEqualTo(1);
    sent.ended();
    assertThat(sent.holdsSeat()).isFalse();
    assertThat(one.inFlight()).isZero();
    assertThat(admit(limiter, A).refusal()).isNull();
  }

  @Test
  void limitOfEachService_isItsOwn() {
    Map<String, AdaptiveLimiter> limiters = Map.of("a.test", adaptive(1), "b.test", adaptive(2));
    OutgoingLimiter limiter =
        OutgoingLimiter.builder()
            .ticker(ticker)
            .adaptive(request -> Objects.requireNonNull(limiters.get(request.host())))
            .build();
    assertThat(admit(limiter, A).refusal()).isNull();
    assertThat(admit(limiter, A).refusal()).isNotNull();
    assertThat(admit(limiter, B).refusal()).isNull();
    assertThat(admit(limiter, B).refusal()).isNull();
    assertThat(admit(limiter, B).refusal()).isNotNull();
  }

  @Test
  void waiting_isInOrderAndBounded() {
    OutgoingLimiter limiter = withRule().maxWait(Duration.ofSeconds(10)).maxWaiting(2).build();
    Admission sent = admit(limiter, A);
    List<Admission> first = new ArrayList<>();
    List<Admission> second = new ArrayList<>();
    Ticket unusedFirst = limiter.admit(A, first::add);
    Ticket unusedSecond = limiter.admit(A, second::add);
    assertThat(limiter.waiting()).isEqualTo(2);
    assertThat(admit(limiter, A).refusal()).as("beyond maxWaiting").isNotNull();
    assertThat(left()).isEqualTo(7);
    sent.ended();
    assertThat(first.get(0).refusal()).isNull();
    assertThat(second).isEmpty();
    assertThat(limiter.waiting()).isEqualTo(1);
    ticker.advance(10 * SECOND);
    assertThat(second.get(0).refusal()).isNotNull();
    assertThat(limiter.waiting()).isZero();
    assertThat(left()).as("the second is not charged").isEqualTo(8);
    first.get(0).ended();
    assertThat(ticker.scheduled()).isZero();
  }

  @Test
  void waitingRequest_leaves() {
    OutgoingLimiter limiter = withRule().maxWait(Duration.ofSeconds(10)).build();
    Admission sent = admit(limiter, A);
    List<Admission> left = new ArrayList<>();
    Ticket ticket = limiter.admit(A, left::add);
    assertThat(ticket.leave()).isTrue();
    assertThat(ticket.leave()).isFalse();
    assertThat(limiter.waiting()).isZero();
    assertThat(one.waiting()).isZero();
    assertThat(left()).isEqualTo(9);
    sent.ended();
    assertThat(left).isEmpty();
    assertThat(one.inFlight()).isZero();
  }

  @Test
  void serviceThatRefusesMeanwhile_isNotSentWhatHasWaited() {
    OutgoingLimiter limiter = withRule().maxWait(Duration.ofSeconds(10)).build();
    Admission sent = admit(limiter, A);
    List<Admission> waited = new ArrayList<>();
    Ticket unused = limiter.admit(A, waited::add);
    received(sent, 429, "3");
    sent.ended();
    assertThat(waited).isEmpty();
    assertThat(one.inFlight()).isZero();
    assertThat(limiter.waiting()).isEqualTo(1);
    ticker.advance(3 * SECOND);
    assertThat(waited.get(0).refusal()).isNull();
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void outcome_isThatOfTheFirstReport() {
    AdaptiveLimiter many = adaptive(10);
    OutgoingLimiter limiter = OutgoingLimiter.builder().ticker(ticker).adaptive(many).build();
    Admission cancelled = admit(limiter, A);
    cancelled.notSent();
    cancelled.timedOut();
    Admission failed = admit(limiter, A);
    failed.ended();
    received(failed, 503);
    Admission refused = admit(limiter, A);
    received(refused, 500);
    refused.timedOut();
    assertThat(many.limit()).isEqualTo(10);
    Admission late = admit(limiter, A);
    late.timedOut();
    assertThat(many.limit()).isEqualTo(9);
    assertThat(many.inFlight()).isZero();
  }

  @Test
  void requestThatNeverEnds_givesItsPermitBackInTheEnd() {
    OutgoingLimiter limiter = builder().longestSeat(Duration.ofSeconds(5)).build();
    Admission sent = admit(limiter, A);
    ticker.advance(5 * SECOND);
    assertThat(sent.holdsSeat()).isFalse();
    AdaptivePermit next = one.tryAcquire();
    assertThat(next.granted()).isTrue();
  }
}
