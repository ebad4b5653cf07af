package dev.weir.engine;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.FailureMode;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class LeasesTest {
  private static final EngineSettings LENDING = EngineSettings.DEFAULTS.lending(100);

  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit:
            {window: 1s, requests_per_unit: 100, consistency: leased, sync_interval: 50ms}
        - key: strict
          rate_limit: {window: 1s, requests_per_unit: 100, on_failure: allow}
        - key: fixed
          rate_limit:
            {window: 1s, requests_per_unit: 100, algorithm: fixed-window, consistency: leased,
             sync_interval: 50ms}
        - key: shadow
          shadow_mode: true
          rate_limit: {window: 1s, requests_per_unit: 1}
        - key: quota
          quota_mode: true
          rate_limit: {window: 1s, requests_per_unit: 1}
        - key: replaced
          rate_limit: {name: weak, window: 1s, requests_per_unit: 1}
        - key: strong
          rate_limit: {window: 1s, requests_per_unit: 50, replaces: [{name: weak}]}
        - key: day
          rate_limit: {unit: day, requests_per_unit: 1}
        - key: queued
          rate_limit:
            window: 1s
            requests_per_unit: 100
            consistency: leased
            on_limit: {queue: {requests: 5, wait: 1s}}
      """;

  private final Fixture fixture = new Fixture(RULES, LENDING, new MemoryStore());
  private final Leases leases = fixture.engine.leases();

  private static Descriptor descriptor(String key) {
    return new Descriptor(List.of(new Entry(key, "v")), null, null);
  }

  private static Request request(long permits, String... keys) {
    List<Descriptor> descriptors = Arrays.stream(keys).map(LeasesTest::descriptor).toList();
    return new Request("d", descriptors, permits);
  }

  private Grant request(LoanRequest ask) {
    return request(leases, ask);
  }

  private static Grant request(Leases leases, LoanRequest ask) {
    AtomicReference<Grant> grant = new AtomicReference<>();
    leases.decide(ask, grant::set);
    return Objects.requireNonNull(grant.get());
  }

  private Grant request(String key, long permits, long ahead) {
    return request(new LoanRequest(request(permits, key), List.of(ahead), false));
  }

  private long giveBack(long lease, long permits) {
    AtomicLong given = new AtomicLong(-1);
    leases.giveBack(lease, permits, given::set);
    return given.get();
  }

  private long refund(long charge) {
    AtomicLong given = new AtomicLong(-1);
    leases.refund(charge, given::set);
    return given.get();
  }

  private long remaining(String key) {
    AtomicReference<Answer> answer = new AtomicReference<>();
    fixture.engine.peek(request(1, key), answer::set);
    return Objects.requireNonNull(answer.get()).statuses().get(0).limitRemaining();
  }

  @Test
  void ask_decidesAndLendsAtMostAQuarterOfWhatRemains() {
    Grant grant = request("user", 2, 1_000);
    Loan loan = grant.loans().get(0);
    assertThat(grant.answer().allowed()).isTrue();
    assertThat(grant.answer().statuses().get(0).limitRemaining()).isEqualTo(98);
    assertThat(loan.permits()).isEqualTo(24);
    assertThat(loan.lease()).isNotZero();
    assertThat(loan.lifeNanos()).isEqualTo(MILLISECONDS.toNanos(50));
    assertThat(loan.leased()).isTrue();
    assertThat(remaining("user")).isEqualTo(74);
  }

  @Test
  void lease_isChargedAsLent_andTheRequestIsNot() {
    List<Boolean> lent = new ArrayList<>();
    ForwardingStore<MemoryStore> recording =
        new ForwardingStore<>(new MemoryStore()) {
          @Override
          public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
            lent.add(charges.lending());
            super.decide(charges, nowNanos, done);
          }
        };
    Leases recorded = new Fixture(RULES, LENDING, recording).engine.leases();
    Grant grant =
        request(recorded, new LoanRequest(request(2, "user", "user"), List.of(3L, 4L), false));
    assertThat(grant.loans()).extracting(Loan::permits).containsExactly(3L, 4L);
    assertThat(lent).as("the request, and each loan").containsExactly(false, true, true);
  }

  @Test
  void lease_countsForItsLifeLongerThanTheWindow() {
    request("user", 1, 3);
    fixture.ticker.advance(1_049_000_000L);
    assertThat(remaining("user")).isLessThan(100);
    fixture.ticker.advance(1_000_000_000L / 32 + 2_000_000L);
    assertThat(remaining("user")).isEqualTo(100);
  }

  @Test
  void nearTheLimit_nothingIsLentAhead() {
    request("user", 97, 0);
    assertThat(request("user", 1, 10).loans().get(0).lease()).isZero();
  }

  @Test
  void strictRule_lendsNothingAndSaysWhatToDoOnFailure() {
    Loan loan = request("strict", 1, 10).loans().get(0);
    assertThat(loan.lease()).isZero();
    assertThat(loan.leased()).isFalse();
    assertThat(Objects.requireNonNull(loan.sharing()).onFailure()).isEqualTo(FailureMode.ALLOW);
  }

  @Test
  void fixedWindow_endsTheLeaseWithItself() {
    long now = fixture.ticker.nanos();
    fixture.ticker.advance(990_000_000L - Math.floorMod(now, 1_000_000_000L));
    assertThat(request("fixed", 1, 10).loans().get(0).lifeNanos())
        .isEqualTo(MILLISECONDS.toNanos(10));
  }

  @Test
  void giveBack_worksOnceAndOnlyForWhatWasLent() {
    Loan loan = request("user", 1, 20).loans().get(0);
    assertThat(loan.permits()).isEqualTo(20);
    assertThat(giveBack(loan.lease() + 1, 5)).isZero();
    assertThat(giveBack(loan.lease(), 1_000)).isEqualTo(20);
    assertThat(giveBack(loan.lease(), 1_000)).isZero();
    assertThat(remaining("user")).isEqualTo(99);
    LeaseMetrics metrics = leases.metrics();
    assertThat(metrics.lent()).isEqualTo(20);
    assertThat(metrics.returned()).isEqualTo(20);
    assertThat(metrics.takenBack()).isEqualTo(20);
    assertThat(metrics.unknown()).isEqualTo(2);
    assertThat(metrics.outstanding()).isZero();
  }

  @Test
  void giveBack_ofANegativeNumber_endsTheLease() {
    Loan loan = request("user", 1, 20).loans().get(0);
    assertThat(giveBack(loan.lease(), -5)).isZero();
    assertThat(giveBack(loan.lease(), 5)).isZero();
  }

  @Test
  void refund_givesBackTheRequestOnceAndNoLease() {
    Grant grant = request(new LoanRequest(request(3, "user", "strict"), List.of(8L), true));
    assertThat(grant.charge()).isNotZero();
    assertThat(giveBack(grant.charge(), 8)).isZero();
    assertThat(refund(grant.loans().get(0).lease())).isZero();
    assertThat(refund(grant.charge())).isEqualTo(6);
    assertThat(refund(grant.charge())).isZero();
    assertThat(remaining("strict")).isEqualTo(100);
    assertThat(remaining("user")).isEqualTo(92);
  }

  @Test
  void refused_isNotRefundableAndLendsNothing() {
    request("user", 100, 0);
    Grant grant = request(new LoanRequest(request(1, "user", "strict"), List.of(5L, 5L), true));
    assertThat(grant.answer().allowed()).isFalse();
    assertThat(grant.charge()).isZero();
    assertThat(grant.loans()).allMatch(loan -> loan.lease() == 0);
  }

  @Test
  void refusal_mayBeRepeatedForItsRetryAfter() {
    request("strict", 99, 0);
    Loan loan = request("strict", 2, 0).loans().get(0);
    assertThat(loan.refusePermits()).isEqualTo(2);
    assertThat(loan.refuseForNanos()).isBetween(1L, MILLISECONDS.toNanos(1_000));
  }

  @Test
  void refusal_isForgottenAfterHalfAMinute() {
    request("day", 1, 0);
    assertThat(request("day", 1, 0).loans().get(0).refuseForNanos())
        .isEqualTo(MILLISECONDS.toNanos(30_000));
  }

  @Test
  void refusalThatDependsOnMore_isNotRepeated() {
    for (String key : List.of("shadow", "quota", "replaced")) {
      request(key, 1, 0);
      assertThat(request(key, 1, 0).loans().get(0).refuseForNanos()).as(key).isZero();
    }
    request("queued", 100, 0);
    assertThat(request("queued", 1, 0).loans().get(0).refuseForNanos()).isZero();
  }

  @Test
  void queuedRule_lendsNothing() {
    assertThat(request("queued", 1, 10).loans().get(0).leased()).isFalse();
  }

  @Test
  void limitOfTheRequest_lendsNothing() {
    Descriptor own =
        new Descriptor(
            List.of(new Entry("user", "v")), new LimitOverride(100, RateLimitUnit.SECOND), null);
    Grant grant = request(new LoanRequest(new Request("d", List.of(own), 1), List.of(10L), false));
    assertThat(grant.answer().allowed()).isTrue();
    assertThat(grant.loans().get(0).leased()).isFalse();
  }

  @Test
  void peek_lendsNothing() {
    Descriptor peek = new Descriptor(List.of(new Entry("user", "v")), null, 0L);
    Grant grant = request(new LoanRequest(new Request("d", List.of(peek), 1), List.of(10L), true));
    assertThat(grant.loans().get(0).lease()).isZero();
    assertThat(grant.charge()).isZero();
  }

  @Test
  void noLimit_hasNothingToSay() {
    Grant grant = request("unknown", 1, 10);
    assertThat(grant.answer().reason()).isEqualTo(Reason.NO_LIMIT);
    assertThat(grant.loans()).containsExactly(Loan.NONE);
  }

  @Test
  void badRequest_hasNoLoans() {
    Grant grant = request(new LoanRequest(new Request("", List.of(), 1), List.of(), true));
    assertThat(grant.answer().error()).isNotNull();
    assertThat(grant.loans()).isEmpty();
  }

  @Test
  void bound_holdsAndPlacesComeBack() {
    Fixture two = new Fixture(RULES, EngineSettings.DEFAULTS.lending(2), new MemoryStore());
    Leases few = two.engine.leases();
    LoanRequest ask = new LoanRequest(request(1, "user"), List.of(1L), true);
    assertThat(request(few, ask).charge()).isNotZero(); // A lease and a charge.
    Grant second = request(few, ask);
    assertThat(second.answer().allowed()).isTrue();
    assertThat(second.loans().get(0).lease()).isZero();
    assertThat(second.charge()).isZero();
    assertThat(few.metrics().full()).isEqualTo(2);
    assertThat(few.metrics().outstanding()).isEqualTo(2);

    two.ticker.advance(MILLISECONDS.toNanos(2_100));
    two.engine.expire();
    assertThat(few.metrics().outstanding()).isZero();
    assertThat(few.metrics().expired()).isEqualTo(1);
    assertThat(request(few, ask).loans().get(0).lease()).isNotZero();
  }

  @Test
  void engineThatLendsNothing_countsByTheWindow() {
    Fixture plain = new Fixture(RULES);
    Grant grant =
        request(plain.engine.leases(), new LoanRequest(request(1, "user"), List.of(9L), true));
    assertThat(grant.loans().get(0).leased()).isFalse();
    assertThat(grant.charge()).isZero();
  }
}
