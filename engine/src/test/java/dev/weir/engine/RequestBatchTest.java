package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.internal.matching.AnswerOfStatuses;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A batch answers, counts and calls observers as its requests do one by one. */
@Tag("model")
@Tag("sample")
class RequestBatchTest {
  private static final int SEEDS = Trials.runs(10, 30);
  private static final int ROUNDS = 60;
  private static final int MOST = 20;

  private static final RuleSet RULES =
      Fixture.rules(
          """
          domain: d
          descriptors:
            - key: bucket
              rate_limit: {unit: minute, requests_per_unit: 3, algorithm: token-bucket}
            - key: exact
              rate_limit: {unit: second, requests_per_unit: 4, algorithm: sliding-window-log}
            - key: fixed
              rate_limit: {unit: second, requests_per_unit: 2, algorithm: fixed-window}
            - key: lenient
              rate_limit: {unit: minute, requests_per_unit: 2, on_failure: allow}
            - key: nothing
              rate_limit: {unit: day, requests_per_unit: 1}
            - key: watched
              shadow_mode: true
              rate_limit: {unit: minute, requests_per_unit: 2}
            - key: either
              quota_mode: true
              rate_limit: {unit: minute, requests_per_unit: 2}
            - key: soft
              rate_limit: {unit: minute, requests_per_unit: 4, throttle: {soft: 50%}}
            - key: elastic
              rate_limit: {unit: minute, requests_per_unit: 2, throttle: {elastic: 60%}}
            - key: detailed
              detailed_metric: true
              rate_limit: {unit: minute, requests_per_unit: 2}
            - key: free
              rate_limit: {unlimited: true}
            - key: path
              value: /login
              rate_limit: {unit: minute, requests_per_unit: 5}
              descriptors:
                - key: user
                  rate_limit: {unit: minute, requests_per_unit: 2}
            - key: path
              value: /a/*
              rate_limit: {unit: minute, requests_per_unit: 3}
            - key: path
              rate_limit: {unit: minute, requests_per_unit: 2}
          """);

  private static final List<String> KEYS =
      List.of(
          "bucket",
          "exact",
          "fixed",
          "lenient",
          "nothing",
          "watched",
          "either",
          "soft",
          "elastic",
          "detailed",
          "free",
          "path",
          "unknown");

  private static final List<String> VALUES =
      List.of("/login", "/a/b", "/a/c", "x", "\u00e4\u20ac\ud83d\ude00", "", "y".repeat(80));

  /** A call of an observer. */
  private record Told(
      @Nullable Rule rule,
      Descriptor descriptor,
      Status status,
      long fingerprint,
      boolean refused) {
    static Told of(DecidedDescriptor each) {
      return new Told(
          each.rule(), each.descriptor(), each.status(), each.fingerprint(), each.refused());
    }
  }

  /** An engine with few keys, and the calls of its observer. */
  private static final class Observed {
    private final List<Told> told = new ArrayList<>();
    private final Engine engine;

    Observed(FakeTicker ticker, double[] load, boolean shadow, boolean observes) {
      EngineSettings settings = new EngineSettings(shadow, 80, 4, 3, 60, 10);
      engine =
          Engine.builder(new MemoryStore(12))
              .ticker(ticker)
              .settings(settings)
              .fingerprint(Fingerprint.seeded(3, 5))
              .load(() -> load[0])
              .build();
      engine.apply(RULES);
      if (observes) {
        engine.observe(each -> told.add(Told.of(each)));
      }
    }
  }

  private record Asked(String domain, List<String> keysAndValues, long permits) {
    String[] texts() {
      return keysAndValues.toArray(new String[6 * 2]); // With room after them.
    }

    int count() {
      return keysAndValues.size();
    }

    Request request() {
      return RequestBatch.request(domain, texts(), count(), permits);
    }

    /** Returns the same request with another descriptor after it, which nothing limits. */
    Request notAlone() {
      Descriptor own = request().descriptors().get(0);
      return new Request(domain, List.of(own, Descriptor.of("free", "x")), 1);
    }
  }

  private static Asked asked(Random random) {
    List<String> texts = new ArrayList<>();
    if (random.nextInt(6) == 0) {
      texts.addAll(List.of("path", "/login", "user", VALUES.get(random.nextInt(VALUES.size()))));
    } else {
      int entries = random.nextInt(8) == 0 ? 1 + random.nextInt(4) : 1;
      for (int i = 0; i < entries; i++) {
        texts.add(KEYS.get(random.nextInt(KEYS.size())));
        texts.add(VALUES.get(random.nextInt(VALUES.size())));
      }
    }
    String domain = random.nextInt(20) == 0 ? (random.nextBoolean() ? "" : "other") : "d";
    long permits = random.nextInt(10) == 0 ? random.nextInt(8) - 1 : 1;
    return new Asked(domain, texts, permits);
  }

  private static void assertSame(String what, RequestBatch batch, int i, Answer expected) {
    assertThat(batch.error(i)).as(what).isEqualTo(expected.error());
    assertThat(batch.allowed(i)).as(what).isEqualTo(expected.allowed());
    if (expected.error() != null) {
      return;
    }
    Status status = expected.statuses().get(0);
    Decision decision = status.decision();
    assertThat(batch.limit(i)).as(what).isEqualTo(status.currentLimit());
    assertThat(batch.reason(i)).as(what).isEqualTo(status.reason());
    assertThat(batch.remaining(i)).as(what).isEqualTo(status.limitRemaining());
    assertThat(batch.retryAfterNanos(i))
        .as(what)
        .isEqualTo(decision == null ? 0 : decision.retryAfterNanos());
    assertThat(batch.resetAfterNanos(i))
        .as(what)
        .isEqualTo(decision == null ? 0 : decision.resetAfterNanos());
  }

  /**
   * Compares both answers: only the one to the single descriptor is kept in numbers, so each proves
   * the other.
   */
  private static void assertSame(String what, Answer single, Answer notAlone) {
    assertThat(single.error()).as(what).isEqualTo(notAlone.error());
    assertThat(single.allowed()).as(what).isEqualTo(notAlone.allowed());
    assertThat(single.shadowed()).as(what).isEqualTo(notAlone.shadowed());
    assertThat(single.revision()).as(what).isEqualTo(notAlone.revision());
    if (single.error() == null) {
      assertThat(single.statuses()).as(what).isEqualTo(notAlone.statuses().subList(0, 1));
      Answer copy =
          new AnswerOfStatuses(
              single.allowed(),
              List.copyOf(single.statuses()),
              null,
              single.revision(),
              single.shadowed(),
              single.domainKnown());
      assertThat(copy)
          .as(what)
          .isEqualTo(single)
          .hasSameHashCodeAs(single)
          .hasToString(single + "");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void batch_isAsItsRequestsOneByOne(int options) {
    boolean observes = (options & 1) != 0;
    boolean shadow = (options & 2) != 0;
    Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    Trials.unseeded("batches of requests, options " + options, SEEDS);
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      FakeTicker ticker = new FakeTicker();
      double[] load = {0};
      Observed together = new Observed(ticker, load, shadow, observes);
      Observed single = new Observed(ticker, load, shadow, observes);
      Observed notAlone = new Observed(ticker, load, shadow, observes);
      RequestBatch batch = together.engine.batch(MOST);
      for (int round = 0; round < ROUNDS; round++) {
        load[0] = random.nextDouble();
        int size = 1 + random.nextInt(MOST);
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          Asked asked = asked(random);
          assertThat(batch.add(asked.domain, asked.texts(), asked.count(), asked.permits)).isTrue();
          answers.add(single.engine.decide(asked.request()));
          assertSame("seed " + seed, answers.get(i), notAlone.engine.decide(asked.notAlone()));
        }
        batch.decide();
        for (int i = 0; i < size; i++) {
          assertSame("seed " + seed + ", round " + round + ", " + i, batch, i, answers.get(i));
          reasons.add(batch.reason(i));
        }
        batch.clear();
        assertThat(together.told).as("seed %s", seed).isEqualTo(single.told);
        assertThat(notAlone.told).as("seed %s", seed).isEqualTo(single.told);
        ticker.advance(random.nextInt(4) * (long) random.nextInt(1_000_000_000));
        together.engine.expire();
        single.engine.expire();
        notAlone.engine.expire();
      }
      assertThat(together.told.isEmpty()).isEqualTo(!observes);
      assertThat(together.engine.metrics()).as("seed %s", seed).isEqualTo(single.engine.metrics());
      assertThat(notAlone.engine.metrics().rules())
          .as("seed %s", seed)
          .isEqualTo(single.engine.metrics().rules());
    }
    assertThat(reasons)
        .contains(
            Reason.WITHIN_LIMIT,
            Reason.OVER_LIMIT,
            Reason.KEY_SPACE_FULL,
            Reason.TOLERATED,
            Reason.NO_LIMIT,
            Reason.SHADOW);
  }

  @Test
  void ruleOfAnotherStore_isNotAdded() {
    try (Engine engine =
        Engine.create(
            RoutedStore.of(new MemoryStore(), new UncertainStore(new ArrayList<>())),
            new FakeTicker(),
            EngineSettings.DEFAULTS)) {
      engine.apply(
          Fixture.rules(
              """
              domain: d
              descriptors:
                - key: here
                  rate_limit: {unit: minute, requests_per_unit: 1, store: local}
                - key: there
                  rate_limit: {unit: minute, requests_per_unit: 1, store: shared}
              """));
      RequestBatch batch = engine.batch(4);
      assertThat(batch.add("d", new String[] {"here", "x"}, 2, 1)).isTrue();
      assertThat(batch.add("d", new String[] {"there", "x"}, 2, 1)).isFalse();
      assertThat(batch.add("d", new String[] {"here", "x"}, 2, 1)).isTrue();
      batch.decide();
      assertThat(batch.size()).isEqualTo(2);
      assertThat(batch.allowed(0)).isTrue();
      assertThat(batch.allowed(1)).isFalse();
    }
  }

  @Test
  void ruleWithSubjects_isNotAdded() {
    Fixture fixture =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: user
                rate_limit: {unit: minute, requests_per_unit: 1, by: user}
            """);
    RequestBatch batch = fixture.engine.batch(4);
    assertThat(batch.add("d", new String[] {"user", "x"}, 2, 1)).isFalse();
    assertThat(batch.size()).isZero();
  }

  @Test
  void rulesThatChangeMeanwhile_decideWhatIsAddedLater() {
    Fixture fixture = new Fixture(limit(1));
    RequestBatch batch = fixture.engine.batch(4);
    String[] texts = {"user", "x"};
    assertThat(batch.add("d", texts, 2, 2)).isTrue();
    fixture.engine.apply(Fixture.rules(limit(2)));
    assertThat(batch.add("d", texts, 2, 2)).isTrue();
    batch.decide();
    assertThat(Objects.requireNonNull(batch.limit(0)).requestsPerUnit()).isEqualTo(1);
    assertThat(batch.allowed(0)).isFalse();
    assertThat(Objects.requireNonNull(batch.limit(1)).requestsPerUnit()).isEqualTo(2);
    assertThat(batch.allowed(1)).isTrue();
  }

  private static String limit(int permits) {
    return """
    domain: d
    descriptors:
      - key: user
        rate_limit: {unit: minute, requests_per_unit: %d}
    """
        .formatted(permits);
  }

  @Test
  void fullOrDecided_takesNoMore() {
    Fixture fixture = new Fixture(limit(1));
    RequestBatch batch = fixture.engine.batch(1);
    String[] texts = {"user", "x"};
    assertThatThrownBy(() -> batch.add("d", texts, 1, 1))
        .hasMessage("count: 1 (expected: an even number, 2..2)");
    assertThat(batch.add("d", texts, 2, 1)).isTrue();
    assertThat(batch.isFull()).isTrue();
    assertThatThrownBy(() -> batch.add("d", texts, 2, 1))
        .hasMessage("batch: full (expected: one with room)");
    batch.decide();
    assertThatThrownBy(batch::decide).hasMessage("batch: decided (expected: cleared before)");
    assertThatThrownBy(() -> batch.add("d", texts, 2, 1))
        .hasMessage("batch: decided (expected: one with room)");
    batch.clear();
    assertThat(batch.add("d", texts, 2, 1)).isTrue();
    batch.decide();
    assertThat(batch.reason(0)).isEqualTo(Reason.OVER_LIMIT);
    assertThatThrownBy(() -> fixture.engine.batch(0))
        .hasMessage("capacity: 0 (expected: 1..65536)");
  }
}
