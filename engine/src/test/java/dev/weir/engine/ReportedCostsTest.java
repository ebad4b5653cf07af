package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Costs that are known only when a response has ended. */
class ReportedCostsTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: tokens
          rate_limit: {unit: hour, requests_per_unit: 1000, algorithm: %s, costs: reported}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: hour, requests_per_unit: 100, costs: reported}
        - key: requests
          rate_limit: {unit: hour, requests_per_unit: 5}
        - key: queued
          rate_limit:
            unit: second
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 10s}}
        - key: leased
          rate_limit:
            {unit: hour, requests_per_unit: 1000, costs: reported, store: local,
             consistency: leased, sync_interval: 1s}
      """;

  private static Fixture fixture(String algorithm) {
    return new Fixture(RULES.formatted(algorithm));
  }

  private static Descriptor descriptor(String key, long permits) {
    return new Descriptor(List.of(new Entry(key, "alice")), null, permits);
  }

  private static Request request(Descriptor... descriptors) {
    return new Request("d", List.of(descriptors), 1);
  }

  private static Answer ask(Fixture weir, String key, long permits) {
    return weir.engine.decide(request(descriptor(key, permits)));
  }

  private static RuleMetrics metrics(Fixture weir, String path) {
    return weir.engine.metrics().rules().stream()
        .filter(each -> each.path().equals(path))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @MethodSource("dev.weir.engine.Fixture#algorithms")
  void responsesThatCost300_passFourTimes_andThenNotUntilEnoughHasPassed(String algorithm) {
    Fixture weir = fixture(algorithm);
    int passed = 0;
    for (int i = 0; i < 12; i++) {
      if (ask(weir, "tokens", 0).allowed()) {
        passed++;
        Answer report = ask(weir, "tokens", 300);
        assertThat(report.allowed()).isEqualTo(passed < 4);
      }
    }
    assertThat(passed).isEqualTo(4);
    Answer refused = ask(weir, "tokens", 0);
    Status status = refused.statuses().get(0);
    assertThat(status.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(status.limitRemaining()).isZero();
    long wait = Objects.requireNonNull(status.decision()).retryAfterNanos();
    weir.ticker.advance(Duration.ofNanos(wait - 1));
    assertThat(ask(weir, "tokens", 0).allowed()).isFalse();
    weir.ticker.advance(Duration.ofNanos(1));
    assertThat(ask(weir, "tokens", 0).allowed()).isTrue();
  }

  @Test
  void report_hasItsDebt_andIsCountedInTheMetrics() {
    Fixture weir = fixture("sliding-window-log");
    ask(weir, "tokens", 900);
    Status status = ask(weir, "tokens", 300).statuses().get(0);
    assertThat(status.debt()).isEqualTo(200);
    assertThat(status.limitRemaining()).isZero();
    RuleMetrics metrics = metrics(weir, "d.tokens");
    assertThat(metrics.withinLimit()).isEqualTo(1000);
    assertThat(metrics.overLimit()).isEqualTo(200);
    assertThat(metrics.incomplete()).isZero();
    assertThat(metrics.nearLimit()).isEqualTo(200);
  }

  @Test
  void requestThatCharges_isCountedByRulesThatTakeCostsBefore() {
    Fixture weir = fixture("sliding-window-log");
    Answer charged = weir.engine.decide(request(descriptor("requests", 8)).charging());
    assertThat(charged.allowed()).isFalse();
    assertThat(charged.statuses().get(0).debt()).isEqualTo(3);
    assertThat(ask(weir, "requests", 1).allowed()).isFalse();
    // A request of another kind is as before.
    assertThat(weir.engine.decide(Request.of("d", "requests", "bob")).allowed()).isTrue();
  }

  @Test
  void watchedReport_refusesNothing() {
    Fixture weir = fixture("sliding-window-log");
    assertThat(ask(weir, "watched", 150).allowed()).isTrue();
    assertThat(ask(weir, "watched", 0).statuses().get(0).reason()).isEqualTo(Reason.SHADOW);
  }

  @Test
  void reportBesideARefusal_isCounted() {
    Fixture weir = fixture("sliding-window-log");
    Answer both = weir.engine.decide(request(descriptor("tokens", 700), descriptor("requests", 6)));
    assertThat(both.allowed()).isFalse();
    assertThat(both.statuses().get(0).allowed()).isTrue();
    assertThat(ask(weir, "tokens", 0).statuses().get(0).limitRemaining()).isEqualTo(300);
    assertThat(ask(weir, "requests", 0).statuses().get(0).limitRemaining()).isEqualTo(5);
  }

  @Test
  void debt_refusesTheRequestsOfOtherRules_andChargesNothingThere() {
    Fixture weir = fixture("sliding-window-log");
    ask(weir, "tokens", 2_000);
    Answer both = weir.engine.decide(request(descriptor("tokens", 0), descriptor("requests", 1)));
    assertThat(both.allowed()).isFalse();
    assertThat(ask(weir, "requests", 0).statuses().get(0).limitRemaining()).isEqualTo(5);
  }

  @Test
  void refund_givesBackWhatWasReported() {
    Fixture weir = fixture("sliding-window-log");
    ask(weir, "tokens", 1_100);
    Descriptor back = Descriptor.refunding(List.of(new Entry("tokens", "alice")), null, 300);
    weir.engine.decide(request(back));
    assertThat(ask(weir, "tokens", 0).statuses().get(0).limitRemaining()).isEqualTo(200);
  }

  @Test
  void reportOfARequestThatWaits_isCountedOnce() {
    Fixture weir = fixture("sliding-window-log");
    weir.engine.decide(Request.of("d", "queued", "alice"));
    Request waiting = request(descriptor("tokens", 100), descriptor("queued", 1));
    Answer refused = weir.engine.decide(waiting);
    assertThat(refused.allowed()).isFalse();
    AtomicReference<Answer> answer = new AtomicReference<>();
    Ticket ticket = weir.engine.enqueue(waiting, refused, Long.MAX_VALUE, answer::set);
    Request behind = request(descriptor("tokens", 10), descriptor("queued", 1));
    assertThat(weir.engine.decide(behind).allowed()).isFalse();
    weir.ticker.advance(Duration.ofSeconds(2));
    assertThat(Objects.requireNonNull(answer.get()).allowed()).isTrue();
    assertThat(ask(weir, "tokens", 0).statuses().get(0).limitRemaining()).isEqualTo(890);
    ticket.leave();
  }

  @Test
  void reports_areNotLentFor_andTheirRefusalsAreNotRepeated() {
    Fixture weir =
        new Fixture(
            RULES.formatted("fixed-window"),
            EngineSettings.DEFAULTS.lending(100),
            new MemoryStore());
    AtomicReference<Grant> grant = new AtomicReference<>();
    Request report = request(descriptor("leased", 1));
    weir.engine.leases().decide(new LoanRequest(report, List.of(10L), false), grant::set);
    Loan loan = Objects.requireNonNull(grant.get()).loans().get(0);
    assertThat(loan.leased()).isFalse();
    assertThat(loan.lease()).isZero();
    weir.engine
        .leases()
        .decide(
            new LoanRequest(request(descriptor("leased", 2_000)), List.of(0L), false), grant::set);
    Grant refused = Objects.requireNonNull(grant.get());
    assertThat(refused.answer().allowed()).isFalse();
    assertThat(refused.loans().get(0).refuseForNanos()).isZero();
  }

  /** A store that answers later. */
  private static final class Later extends ForwardingStore<MemoryStore> {
    private final List<Runnable> waiting = new ArrayList<>();

    Later() {
      super(new MemoryStore());
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      waiting.add(() -> delegate.decide(charges, nowNanos, done));
    }

    void answer() {
      while (!waiting.isEmpty()) {
        waiting.remove(0).run();
      }
    }
  }

  @Test
  void reportsInTwoStores_areCountedInBoth_whateverOneOfThemAnswers() {
    Later shared = new Later();
    Fixture weir =
        new Fixture(
            RULES.formatted("fixed-window"),
            EngineSettings.DEFAULTS,
            RoutedStore.of(new MemoryStore(), shared));
    weir.engine.apply(
        Fixture.rules(
            """
            domain: d
            descriptors:
              - key: here
                rate_limit: {unit: hour, requests_per_unit: 100, store: local, costs: reported}
              - key: there
                rate_limit: {unit: hour, requests_per_unit: 100, store: shared, costs: reported}
              - key: calls
                rate_limit: {unit: hour, requests_per_unit: 3, store: local}
            """));
    AtomicReference<Answer> answer = new AtomicReference<>();
    for (long[] costs : new long[][] {{150, 20}, {20, 150}}) {
      weir.engine.decide(
          request(
              descriptor("here", costs[0]), descriptor("there", costs[1]), descriptor("calls", 1)),
          answer::set);
      shared.answer();
      assertThat(Objects.requireNonNull(answer.get()).allowed()).isFalse();
    }
    assertThat(Objects.requireNonNull(answer.get()).statuses())
        .extracting(Status::debt)
        .containsExactly(70L, 70L, 0L);
    weir.engine.decide(request(descriptor("calls", 0)), answer::set);
    assertThat(Objects.requireNonNull(answer.get()).statuses().get(0).limitRemaining())
        .isEqualTo(3);
  }
}
