package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.HoldMetrics;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds that clients keep, settled by the engine that granted them and by others. */
class HoldsTest {
  private static final long LIMIT = 1000;
  private static final int RUNS = 300;
  private static final Duration LIFE = Duration.ofMinutes(10);
  private static final byte[] SECRET = "a secret of both".getBytes(StandardCharsets.UTF_8);
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: tokens
          rate_limit: {unit: hour, requests_per_unit: 1000, algorithm: %s, store: %s}
        - key: requests
          rate_limit: {unit: hour, requests_per_unit: 10, store: %s}
        - key: local
          rate_limit: {unit: hour, requests_per_unit: 1000, store: local}
        - key: leased
          rate_limit: {unit: hour, requests_per_unit: 1000, store: shared, consistency: leased}
        - key: fallback
          rate_limit:
            {unit: hour, requests_per_unit: 1000, store: shared, on_failure: local, local_share: 10%%}
        - key: reported
          rate_limit: {unit: hour, requests_per_unit: 1000, costs: reported}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: hour, requests_per_unit: 100}
      """;

  /** A hold of the model. */
  private record Granted(HoldAnswer held, long most) {}

  private final FakeTicker ticker = new FakeTicker();

  /** Two engines that share a store, beside one of their own. */
  private final MemoryStore shared = new MemoryStore();

  private Engine engine(String algorithm, byte[] secret, Duration life) {
    Engine engine =
        Engine.builder(RoutedStore.of(new MemoryStore(), shared))
            .ticker(ticker)
            .holds(HoldSettings.of(secret, life))
            .build();
    engine.apply(Fixture.rules(RULES.formatted(algorithm, "shared", "shared")));
    return engine;
  }

  private Engine engine() {
    return engine("sliding-window", SECRET, LIFE);
  }

  private static <T> T answer(Consumer<Consumer<T>> call) {
    AtomicReference<T> answer = new AtomicReference<>();
    call.accept(answer::set);
    return Objects.requireNonNull(answer.get());
  }

  private static Request request(String key, long permits) {
    return new Request("d", List.of(Descriptor.of(key, "alice")), permits);
  }

  private static HoldAnswer hold(Engine engine, Request request) {
    return answer(done -> engine.holds().hold(request, done));
  }

  private static HoldAnswer hold(Engine engine, String key, long most) {
    return hold(engine, request(key, most));
  }

  private static Settlement settle(Engine engine, HoldAnswer held, Long... costs) {
    return answer(done -> engine.holds().settle(held.hold(), List.of(costs), done));
  }

  private static long left(Engine engine, String key) {
    Answer look = answer(done -> engine.peek(request(key, 1), done));
    Status status = look.statuses().get(0);
    return status.decision() == null ? 0 : status.decision().remaining();
  }

  @ParameterizedTest
  @MethodSource("dev.weir.engine.Fixture#algorithms")
  void settlement_replacesTheHoldByTheCost_once(String algorithm) {
    Engine engine = engine(algorithm, SECRET, LIFE);
    Engine other = engine(algorithm, SECRET, LIFE);
    HoldAnswer first = hold(engine, "tokens", 600);
    assertThat(first.answer().allowed()).isTrue();
    HoldAnswer second = hold(other, "tokens", 600);
    assertThat(second.answer().allowed()).isFalse();
    assertThat(second.hold()).isEmpty();

    assertThat(settle(other, first, 200L)).isEqualTo(new Settlement(Outcome.SETTLED, 400, 0));
    for (Engine each : List.of(engine, other)) {
      assertThat(settle(each, first, 0L)).isEqualTo(new Settlement(Outcome.SETTLED_BEFORE, 0, 0));
      assertThat(left(each, "tokens")).isEqualTo(800);
    }

    HoldAnswer third = hold(engine, "tokens", 700);
    assertThat(settle(other, third, 1_000L)).isEqualTo(new Settlement(Outcome.SETTLED, 0, 300));
    Answer refused = answer(done -> engine.decide(request("tokens", 1), done));
    assertThat(refused.allowed()).isFalse();
    assertThat(engine.holds().metrics()).isEqualTo(new HoldMetrics(2, 0, 0, 1, 0, 0, 0, 0));
    assertThat(other.holds().metrics()).isEqualTo(new HoldMetrics(0, 1, 2, 1, 0, 0, 400, 300));
  }

  @Test
  void releasedHold_leavesNothing_andAnExactOneChangesNothing() {
    Engine engine = engine();
    assertThat(settle(engine, hold(engine, "tokens", 600), 0L))
        .isEqualTo(new Settlement(Outcome.SETTLED, 600, 0));
    assertThat(settle(engine, hold(engine, "tokens", 1_000), 1_000L))
        .isEqualTo(new Settlement(Outcome.SETTLED, 0, 0));
    assertThat(left(engine, "tokens")).isZero();
  }

  /** One number is for the descriptors that had no number of their own. */
  @Test
  void descriptors_areSettledEachByItsOwnCost() {
    Engine engine = engine();
    Descriptor requests = new Descriptor(List.of(new Entry("requests", "alice")), null, 1L);
    Request both = new Request("d", List.of(requests, Descriptor.of("tokens", "alice")), 500);
    assertThat(settle(engine, hold(engine, both), 100L))
        .isEqualTo(new Settlement(Outcome.SETTLED, 400, 0));
    assertThat(left(engine, "requests")).isEqualTo(9);
    assertThat(left(engine, "tokens")).isEqualTo(900);

    assertThat(settle(engine, hold(engine, both), 0L, 600L))
        .isEqualTo(new Settlement(Outcome.SETTLED, 1, 100));
    assertThat(left(engine, "requests")).isEqualTo(9);
    assertThat(left(engine, "tokens")).isEqualTo(300);

    Request small = new Request("d", both.descriptors(), 50);
    HoldAnswer held = hold(engine, small);
    assertThatThrownBy(() -> settle(engine, held, 1L, 2L, 3L))
        .hasMessage("permits: 3 numbers (expected: 1, or one of each descriptor, 2)");
    assertThatThrownBy(() -> settle(engine, held, -1L))
        .hasMessage("permits: -1 (expected: at least 0)");
    assertThat(settle(engine, held, 1L, 2L).outcome()).isEqualTo(Outcome.SETTLED);
  }

  /** The mark of the settlement may have been taken or not: nothing is given back. */
  @Test
  void storeThatCannotDecide_leavesTheHoldAsItIs() {
    Engine engine = engine();
    HoldAnswer held = hold(engine, "tokens", 600);
    Engine away =
        Engine.builder(RoutedStore.of(new MemoryStore(), new UncertainStore(new ArrayList<>())))
            .ticker(ticker)
            .holds(HoldSettings.of(SECRET, LIFE))
            .build();
    away.apply(Fixture.rules(RULES.formatted("sliding-window", "shared", "shared")));
    assertThat(settle(away, held, 0L)).isEqualTo(new Settlement(Outcome.UNCERTAIN, 0, 0));
    assertThat(away.holds().metrics().uncertain()).isEqualTo(1);
    assertThat(settle(engine, held, 200L)).isEqualTo(new Settlement(Outcome.SETTLED, 400, 0));
  }

  /** A limit that the request brings along. */
  @Test
  void override_isSettled() {
    Engine engine = engine();
    LimitOverride limit = new LimitOverride(100, RateLimitUnit.HOUR);
    Descriptor own = new Descriptor(List.of(new Entry("any", "alice")), limit, null);
    HoldAnswer held = hold(engine, new Request("d", List.of(own), 80));
    assertThat(settle(engine, held, 30L)).isEqualTo(new Settlement(Outcome.SETTLED, 50, 0));
    assertThat(hold(engine, new Request("d", List.of(own), 71)).answer().allowed()).isFalse();
    assertThat(hold(engine, new Request("d", List.of(own), 70)).answer().allowed()).isTrue();
  }

  @Test
  void lateSettlement_givesNothingBack_andCountsWhatIsMore() {
    Engine engine = engine();
    HoldAnswer less = hold(engine, "tokens", 300);
    HoldAnswer more = hold(engine, "tokens", 300);
    HoldAnswer last = hold(engine, "tokens", 300);
    ticker.advance(LIFE);
    assertThat(settle(engine, less, 0L)).isEqualTo(new Settlement(Outcome.LATE, 0, 0));
    assertThat(settle(engine, more, 350L)).isEqualTo(new Settlement(Outcome.LATE, 0, 50));
    assertThat(settle(engine, more, 350L).outcome()).isEqualTo(Outcome.SETTLED_BEFORE);
    assertThat(left(engine, "tokens")).isEqualTo(50);
    ticker.advance(LIFE); // By now it may have been settled, and be forgotten.
    assertThat(settle(engine, last, 900L)).isEqualTo(new Settlement(Outcome.LATE, 0, 0));
    assertThat(left(engine, "tokens")).isEqualTo(50);
  }

  /** Clocks of servers differ: the memory of settlements lasts longer than a hold lives. */
  @Test
  void settledHold_isNotSettledAgainByAServerWhoseClockIsBehind() {
    Engine engine = engine();
    HoldAnswer held = hold(engine, "tokens", 300);
    assertThat(settle(engine, held, 100L).returned()).isEqualTo(200);
    ticker.advance(LIFE.multipliedBy(2).minusNanos(1));
    FakeTicker behind = new FakeTicker(ticker.nanos() - LIFE.toNanos() - 1);
    Engine other =
        Engine.builder(RoutedStore.of(new MemoryStore(), shared))
            .ticker(behind)
            .holds(HoldSettings.of(SECRET, LIFE))
            .build();
    other.apply(Fixture.rules(RULES.formatted("sliding-window", "shared", "shared")));
    assertThat(settle(other, held, 0L).outcome()).isEqualTo(Outcome.SETTLED_BEFORE);
  }

  /** A count of one server means nothing at another, and it may be there. */
  @ParameterizedTest
  @ValueSource(strings = {"local", "leased", "fallback"})
  void countOfOneServer_isGivenBackOnlyByTheEngineThatGrantedTheHold(String key) {
    Engine engine = engine();
    Engine other = engine();
    HoldAnswer elsewhere = hold(other, key, 500);
    long before = left(engine, key);
    assertThat(settle(engine, elsewhere, 100L)).isEqualTo(new Settlement(Outcome.SETTLED, 0, 0));
    assertThat(left(engine, key)).isEqualTo(before);
    HoldAnswer held = hold(engine, key, 500);
    assertThat(settle(engine, held, 100L)).isEqualTo(new Settlement(Outcome.SETTLED, 400, 0));
    assertThat(left(engine, key)).isEqualTo(before - 100);
  }

  /** Without rules nothing could be given back, so the settlement must not count as the first. */
  @Test
  void engineWithoutRules_leavesTheHoldAsItIs() {
    Engine engine = engine();
    HoldAnswer held = hold(engine, "tokens", 600);
    Engine bare =
        Engine.builder(RoutedStore.of(new MemoryStore(), shared))
            .ticker(ticker)
            .holds(HoldSettings.of(SECRET, LIFE))
            .build();
    assertThat(settle(bare, held, 0L)).isEqualTo(new Settlement(Outcome.UNCERTAIN, 0, 0));
    assertThat(settle(engine, held, 200L)).isEqualTo(new Settlement(Outcome.SETTLED, 400, 0));
  }

  @Test
  void changedRules_giveNothingBack_andCountWhatIsMore() {
    Engine engine = engine();
    HoldAnswer less = hold(engine, "tokens", 300);
    HoldAnswer more = hold(engine, "tokens", 300);
    engine.apply(
        Fixture.rules(
            RULES.formatted("sliding-window", "shared", "shared").replace("1000", "2000")));
    assertThat(settle(engine, less, 0L)).isEqualTo(new Settlement(Outcome.SETTLED, 0, 0));
    assertThat(settle(engine, more, 400L)).isEqualTo(new Settlement(Outcome.SETTLED, 0, 100));
    assertThat(left(engine, "tokens")).isEqualTo(1_300);
  }

  @Test
  void requestThatIsNotLimited_orOnlyWatched_isHeldForNothing() {
    Engine engine = engine();
    for (String key : List.of("unlimited", "watched")) {
      HoldAnswer held = hold(engine, key, 300);
      assertThat(held.answer().allowed()).isTrue();
      assertThat(settle(engine, held, 0L)).isEqualTo(new Settlement(Outcome.SETTLED, 0, 0));
    }
  }

  @Test
  void ruleThatTakesReports_holdsNothing() {
    Engine engine = engine();
    HoldAnswer held = hold(engine, "reported", 300);
    assertThat(held.answer().error())
        .startsWith("d.reported: costs: reported (expected: before or held, for a hold");
    assertThat(held.hold()).isEmpty();
    assertThat(left(engine, "reported")).isEqualTo(LIMIT);
    assertThat(hold(engine, request("tokens", 3).charging()).answer().error())
        .startsWith("charge: true (expected: false");
  }

  @Test
  void textThatWasNotGranted_isRefused() {
    Engine engine = engine();
    String held = hold(engine, "tokens", 300).hold();
    Engine stranger = engine("sliding-window", new byte[] {1}, LIFE);
    String theirs = hold(stranger, "tokens", 300).hold();
    SplittableRandom random = Trials.random("changed holds");
    List<String> wrong = new ArrayList<>(List.of("", "?", "AAAA", theirs, held + "AAAA"));
    for (int i = 0; i < 200; i++) {
      StringBuilder changed = new StringBuilder(held);
      int at = random.nextInt(held.length() - 1); // The last character has unused bits.
      changed.setCharAt(at, held.charAt(at) == 'A' ? 'B' : 'A');
      wrong.add(changed.toString());
    }
    for (String each : wrong) {
      assertThatThrownBy(() -> engine.holds().settle(each, List.of(0L), done -> {}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("hold: ")
          .hasMessageEndingWith("(expected: the text of a granted hold, unchanged)");
    }
    assertThat(left(engine, "tokens")).isEqualTo(LIMIT - 600);
    Engine shorter = engine("sliding-window", SECRET, LIFE.minusNanos(1));
    assertThatThrownBy(() -> shorter.holds().settle(held, List.of(0L), done -> {}))
        .hasMessage(
            "hold: its life is longer than holds have here (expected: one life for all"
                + " servers)");
  }

  /** The claim under threads is that of the store: of requests for one permit, one is admitted. */
  @Test
  void settlementsAtOnce_countOnce() throws Exception {
    List<Engine> engines = List.of(engine(), engine(), engine());
    ExecutorService threads = Executors.newFixedThreadPool(engines.size());
    try {
      for (int i = 0; i < RUNS; i++) {
        HoldAnswer held = hold(engines.get(0), "tokens", 600);
        List<Future<Settlement>> settled = new ArrayList<>();
        for (Engine each : engines) {
          settled.add(threads.submit(() -> settle(each, held, 0L)));
        }
        long first = 0;
        for (Future<Settlement> each : settled) {
          first += each.get(1, TimeUnit.MINUTES).outcome() == Outcome.SETTLED ? 1 : 0;
        }
        assertThat(first).isEqualTo(1);
        assertThat(left(engines.get(0), "tokens")).isEqualTo(LIMIT);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * Requests whose costs are at most what they hold, settled in any order, several times, at any
   * engine, or never: a hold is admitted exactly if it fits beside what is held and what was spent.
   */
  @Test
  void holds_areExactlyWhatIsHeldAndSpent() {
    SplittableRandom random = Trials.random("holds", RUNS);
    for (int run = 0; run < RUNS; run++) {
      MemoryStore store = new MemoryStore();
      List<Engine> engines = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Engine each =
            Engine.builder(RoutedStore.of(new MemoryStore(), store))
                .ticker(ticker)
                .holds(HoldSettings.of(SECRET, LIFE))
                .build();
        each.apply(Fixture.rules(RULES.formatted("fixed-window", "shared", "shared")));
        engines.add(each);
      }
      long used = 0;
      List<Granted> open = new ArrayList<>();
      List<Granted> done = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Engine engine = engines.get(random.nextInt(3));
        if (random.nextBoolean() || open.isEmpty()) {
          long most = random.nextLong(1, 400);
          HoldAnswer held = hold(engine, "tokens", most);
          boolean fits = used + most <= LIMIT;
          assertThat(held.answer().allowed()).as("%d beside %d", most, used).isEqualTo(fits);
          if (fits) {
            used += most;
            open.add(new Granted(held, most));
          }
        } else if (random.nextInt(3) == 0 && !done.isEmpty()) {
          HoldAnswer again = done.get(random.nextInt(done.size())).held();
          assertThat(settle(engine, again, 0L).outcome()).isEqualTo(Outcome.SETTLED_BEFORE);
        } else {
          Granted granted = open.remove(random.nextInt(open.size()));
          long cost = random.nextLong(0, LIMIT - used + granted.most() + 1);
          long more = cost - granted.most();
          assertThat(settle(engine, granted.held(), cost))
              .isEqualTo(new Settlement(Outcome.SETTLED, Math.max(0, -more), Math.max(0, more)));
          used += more;
          done.add(granted);
        }
        assertThat(left(engine, "tokens")).isEqualTo(LIMIT - used);
      }
    }
  }
}
