package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.Trials;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Descriptors that give permits back by their number. */
class RefundsByNumberTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long LIMIT = 100;
  private static final List<String> ALGORITHMS =
      List.of(
          "sliding-window-log",
          "sliding-window-buckets",
          "sliding-window-counter",
          "fixed-window",
          "token-bucket",
          "leaky-bucket");

  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 100, algorithm: %s}
        - key: other
          rate_limit: {unit: minute, requests_per_unit: 100, algorithm: %s}
      """;

  private static Fixture fixture(String algorithm) {
    return new Fixture(RULES.formatted(algorithm, algorithm));
  }

  private static Descriptor take(String key, long permits) {
    return new Descriptor(List.of(new Entry(key, "alice")), null, permits);
  }

  private static Descriptor refund(String key, long permits) {
    return Descriptor.refunding(List.of(new Entry(key, "alice")), null, permits);
  }

  private static Answer send(Fixture weir, Descriptor... descriptors) {
    return weir.engine.decide(new Request("d", List.of(descriptors), 1));
  }

  private static long left(Fixture weir) {
    return send(weir, take("user", 0)).statuses().get(0).limitRemaining();
  }

  @ParameterizedTest
  @MethodSource("dev.weir.engine.Fixture#algorithms")
  void refund_givesBackWhatIsCharged_andNoMore(String algorithm) {
    Fixture weir = fixture(algorithm);
    assertThat(send(weir, take("user", 30)).allowed()).isTrue();
    assertThat(send(weir, take("user", 30)).allowed()).isTrue();
    Answer answer = send(weir, refund("user", 40));
    assertThat(answer.allowed()).isTrue();
    assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(80);
    assertThat(left(weir)).isEqualTo(80);
    assertThat(send(weir, refund("user", 1_000_000_000L)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(LIMIT);
    assertThat(send(weir, refund("user", Long.MAX_VALUE)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(LIMIT);
    assertThat(weir.engine.refunds().given()).isEqualTo(60);
  }

  @Test
  void refundOfARefusedRequest_freesNothing() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 60)).allowed()).isTrue();
    for (int i = 0; i < 3; i++) {
      assertThat(send(weir, take("user", 60)).allowed()).isFalse();
      assertThat(send(weir, refund("user", 60)).allowed()).isTrue();
      assertThat(left(weir)).isEqualTo(40);
    }
    assertThat(weir.engine.refunds()).isEqualTo(new RefundMetrics(0, 180));
    // The one that was admitted ends.
    assertThat(send(weir, refund("user", 60)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(LIMIT);
  }

  @Test
  void refundOfAKeyWhoseRequestAnotherRefused_freesNothing() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 10)).allowed()).isTrue();
    assertThat(send(weir, take("other", LIMIT)).allowed()).isTrue();
    assertThat(send(weir, take("user", 10), take("other", 10)).allowed()).isFalse();
    send(weir, refund("user", 10), refund("other", 10));
    assertThat(left(weir)).isEqualTo(90);
  }

  @Test
  void refundAndChargeOfOneKey_areOneChange() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 80)).allowed()).isTrue();
    assertThat(send(weir, refund("user", 80), take("user", 30)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(70);
    assertThat(send(weir, take("user", 20), refund("user", 10)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(60);
    // More than there is room for: nothing changes, so the permits held stay charged.
    assertThat(send(weir, refund("user", 10), take("user", 71)).allowed()).isFalse();
    assertThat(left(weir)).isEqualTo(60);
  }

  @Test
  void endOfARefusedRequestThatTakesAsMuch_changesNothing() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 60)).allowed()).isTrue();
    assertThat(send(weir, take("user", 60)).allowed()).isFalse();
    assertThat(send(weir, refund("user", 60), take("user", 60)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(40);
    assertThat(send(weir, refund("user", 60), take("user", 20)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(80);
  }

  @Test
  void peekOfARefund_changesNothing() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 60)).allowed()).isTrue();
    weir.engine.peek(new Request("d", List.of(refund("user", 60)), 1), answer -> {});
    assertThat(left(weir)).isEqualTo(40);
  }

  @Test
  void refundWithoutARule_isCountedAsKept() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, refund("unknown", 5)).allowed()).isTrue();
    assertThat(weir.engine.refunds()).isEqualTo(new RefundMetrics(0, 5));
  }

  @Test
  void refundInASharedStore_isNoChargeAndIsCounted() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    Fixture weir =
        new Fixture(
            RULES.formatted("fixed-window", "fixed-window"), EngineSettings.DEFAULTS, store);
    assertThat(send(weir, take("user", 60)).allowed()).isTrue();
    assertThat(send(weir, refund("user", 60)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(40);
    assertThat(weir.engine.refunds()).isEqualTo(new RefundMetrics(0, 60));
  }

  @Test
  void refundOfARefusedRequestOfAnySize_freesNothing() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 60)).allowed()).isTrue();
    for (long permits : new long[] {101, 1L << 32, (1L << 33) + 1, 1L << 40, Long.MAX_VALUE}) {
      assertThat(send(weir, take("user", permits)).allowed()).isFalse();
      assertThat(send(weir, refund("user", permits)).allowed()).isTrue();
      assertThat(left(weir)).as("%s", permits).isEqualTo(40);
    }
    assertThat(send(weir, refund("user", 60)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(LIMIT);
  }

  @Test
  void refusalsOfLongAgo_noLongerKeepPermits() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, take("user", 101)).allowed()).isFalse();
    weir.ticker.advance(299 * SECOND);
    assertThat(send(weir, take("user", 50)).allowed()).isTrue();
    assertThat(send(weir, refund("user", 20)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(50);
    weir.ticker.advance(300 * SECOND);
    assertThat(send(weir, take("user", 50)).allowed()).isTrue();
    assertThat(send(weir, refund("user", 20)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(50);
    weir.ticker.advance(300 * SECOND);
    assertThat(send(weir, take("user", 50)).allowed()).isTrue();
    assertThat(send(weir, refund("user", 20)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(70);
  }

  @Test
  void requestThatWaitedAndWasAdmitted_givesBackWhatItTook() {
    Fixture weir =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: user
                rate_limit: {window: 1s, requests_per_unit: 100,
                  on_limit: {queue: {requests: 10, wait: 5s}}}
            """);
    assertThat(send(weir, take("user", LIMIT)).allowed()).isTrue();
    Request second = new Request("d", List.of(take("user", 30)), 1);
    Answer refused = weir.engine.decide(second);
    assertThat(refused.allowed()).isFalse();
    List<Answer> answers = new ArrayList<>();
    Ticket ticket = weir.engine.enqueue(second, refused, 5 * SECOND, answers::add);
    assertThat(ticket).isNotNull();
    weir.ticker.advance(2 * SECOND);
    assertThat(answers).singleElement().extracting(Answer::allowed).isEqualTo(true);
    assertThat(left(weir)).isEqualTo(70);
    assertThat(send(weir, refund("user", 30)).allowed()).isTrue();
    assertThat(left(weir)).isEqualTo(LIMIT);
  }

  @Test
  void negativeRefund_isAnError() {
    assertThat(send(fixture("fixed-window"), refund("user", -1)).error())
        .isEqualTo("descriptor refund: -1 (expected: at least 0)");
  }

  /** A request that was admitted or refused, and is going to give back what it took. */
  private record Held(long permits, boolean charged) {}

  @Test
  void holdsOfRefusedAndAdmittedRequests_neverHoldMoreThanTheLimit() {
    for (String algorithm : ALGORITHMS) {
      SplittableRandom seeds = Trials.random("holds by number, " + algorithm, 50);
      for (int trial = 0; trial < 50; trial++) {
        long seed = seeds.nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        Fixture weir = fixture(algorithm);
        Deque<Held> ends = new ArrayDeque<>();
        List<Long> used = new ArrayList<>();
        long inFlight = 0;
        for (int step = 0; step < 200; step++) {
          if (random.nextBoolean() || ends.isEmpty()) {
            long permits = 1L + random.nextInt(60);
            boolean allowed = send(weir, take("user", permits)).allowed();
            inFlight += allowed ? permits : 0;
            ends.add(new Held(permits, allowed));
          } else {
            Held end = random.nextBoolean() ? ends.removeFirst() : ends.removeLast();
            send(weir, refund("user", end.permits()));
            inFlight -= end.charged() ? end.permits() : 0;
          }
          used.add(inFlight);
        }
        assertThat(used)
            .as("%s, seed %d", algorithm, seed)
            .allSatisfy(held -> assertThat(held).isLessThanOrEqualTo(LIMIT));
      }
    }
  }

  private static Descriptor override(long permits, long units) {
    return new Descriptor(
        List.of(new Entry("any", "alice")),
        new LimitOverride(10, RateLimitUnit.SECOND, units),
        permits);
  }

  @Test
  void overrideOfSeveralUnits_holdsOverAllOfThem() {
    Fixture weir = fixture("sliding-window");
    assertThat(send(weir, override(10, 30)).allowed()).isTrue();
    weir.ticker.advance(2 * SECOND);
    assertThat(send(weir, override(1, 30)).allowed()).isFalse();
    weir.ticker.advance(27 * SECOND);
    assertThat(send(weir, override(1, 30)).allowed()).isFalse();
    weir.ticker.advance(3 * SECOND);
    assertThat(send(weir, override(10, 30)).allowed()).isTrue();
    // A window of one unit has a counter of its own.
    assertThat(send(weir, override(10, 1)).allowed()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 31_622_401, 4_294_967_295L})
  void overrideOfTooManyUnits_isAnError(long units) {
    assertThat(send(fixture("sliding-window"), override(1, units)).error())
        .isEqualTo(
            "descriptor limit unit_multiplier: "
                + units
                + " (expected: 1..31622400 of unit SECOND)");
  }

  @Test
  void overridesOfTooManyWindows_areAnError() {
    Fixture weir = fixture("sliding-window");
    @Nullable String error = null;
    for (int units = 2; units <= 257; units++) {
      error = send(weir, override(1, units)).error();
      assertThat(error).isNull();
    }
    error = send(weir, override(1, 258)).error();
    assertThat(error)
        .isEqualTo(
            "descriptor limit unit_multiplier: 258 (expected: one of the first 256 windows of"
                + " several units that requests brought)");
    assertThat(send(weir, override(1, 257)).error()).isNull();
    assertThat(send(weir, override(1, 1)).error()).isNull();
  }
}
