package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Every request has its answer, whatever fails while limits of subjects are looked up. */
class SubjectFailuresTest {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: a
          rate_limit: {unit: minute, requests_per_unit: 3, by: a}
        - key: b
          rate_limit: {unit: minute, requests_per_unit: 3, by: b}
        - key: quick
          rate_limit: {unit: minute, requests_per_unit: 3, by: quick, unknown: rule}
        - key: q
          rate_limit:
            unit: second
            requests_per_unit: 2
            algorithm: token-bucket
            by: q
            on_limit: {queue: {requests: 2, wait: 2s}}
      """;

  private static final Request X = Request.of("shop", "a", "x");
  private static final Request QUEUED = Request.of("shop", "q", "x");
  private static final Request QUICK = Request.of("shop", "quick", "x");
  private static final Duration WAIT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofMinutes(5);

  /** A store that fails to decide when a test sets it to. */
  private static final class FailingStore extends ForwardingStore<Store> {
    boolean failing;

    FailingStore(Store store) {
      super(store);
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      if (failing) {
        throw new IllegalStateException("store");
      }
      super.decide(charges, nowNanos, done);
    }
  }

  /** A ticker that refuses to schedule when a test sets it to. */
  private static final class FailingTicker implements Ticker {
    final FakeTicker fake = new FakeTicker(1_000_000_000_000L);
    boolean failing;
    boolean atOnce;
    int cancelled;

    @Override
    public long nanos() {
      return fake.nanos();
    }

    @Override
    public ScheduledTask schedule(long nanos, Runnable task) {
      if (failing) {
        throw new IllegalStateException("timer");
      }
      if (atOnce) {
        task.run();
        return () -> cancelled++;
      }
      return fake.schedule(nanos, task);
    }
  }

  private final FailingTicker ticker = new FailingTicker();
  private final FakeRecords records = new FakeRecords();
  private final FailingStore store = new FailingStore(new MemoryStore(10_000));
  private Engine engine = engine(store, new SubjectSettings(WAIT.toNanos(), 10));
  private final List<Answer> heard = new ArrayList<>();

  private Engine engine(Store of, SubjectSettings settings) {
    Engine made = Engine.builder(of).ticker(ticker).subjects(records, settings).build();
    made.apply(Fixture.rules(RULES));
    return made;
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static Request both(String... keysAndValues) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      descriptors.add(Descriptor.of(keysAndValues[i], keysAndValues[i + 1]));
    }
    return new Request("shop", descriptors, 1);
  }

  private Answer only() {
    assertThat(heard).hasSize(1);
    return heard.get(0);
  }

  private void assertNothingIsLeft() {
    assertThat(engine.subjectMetrics().waiting()).isZero();
    assertThat(ticker.fake.scheduled()).isZero();
  }

  // The limits at hand cannot be read.

  @Test
  void failedFind_leavesTheSubjectUnknown_andIsCounted() {
    records.put("x", SubjectLimits.NONE);
    records.breakFinds(true);
    engine.decide(X, heard::add);
    assertThat(heard).isEmpty();
    assertThat(engine.subjectMetrics().findsFailed()).isEqualTo(1);
    records.answer(SubjectLimits.NONE);
    assertThat(only().allowed()).isTrue();
    assertThat(engine.decide(QUICK).allowed()).as("unknown: rule").isTrue();
  }

  @Test
  void failedFind_whenARequestGoesOn_isNoReasonToHang() {
    records.put("y", SubjectLimits.NONE);
    engine.decide(both("a", "x", "b", "y"), heard::add);
    engine.peek(both("a", "x", "b", "y"), heard::add);
    records.breakFinds(true);
    records.answer(SubjectLimits.NONE);
    assertThat(heard).hasSize(2);
  }

  @Test
  void failedFind_whenAQueuedRequestAsks_isNoReasonToHang() {
    enqueue();
    records.breakFinds(true);
    ticker.fake.advance(Duration.ofMillis(600));
    ticker.fake.advance(LONG);
    assertThat(only().allowed()).isFalse();
    assertThat(engine.metrics().queues().waiting()).isZero();
  }

  private void enqueue() {
    records.put("x", SubjectLimits.NONE);
    Answer refused = engine.decide(QUEUED);
    while (refused.allowed()) {
      refused = engine.decide(QUEUED);
    }
    engine.enqueue(QUEUED, refused, Long.MAX_VALUE, heard::add);
    assertThat(heard).isEmpty();
  }

  // The store fails.

  @Test
  void failedStore_afterARequestHasWaited_isAnsweredWithAnError() {
    engine.close();
    engine = engine(RoutedStore.inOne(store), SubjectSettings.DEFAULTS);
    engine.decide(X, heard::add);
    engine.peek(X, heard::add);
    store.failing = true;
    records.answer(SubjectLimits.NONE);
    assertThat(heard).hasSize(2);
    assertThat(heard).extracting(Answer::error).allSatisfy(e -> assertThat(e).contains("store"));
    assertThat(heard).extracting(Answer::revision).containsOnly(1L);
    assertThat(engine.metrics().errors()).isEqualTo(2);
    assertNothingIsLeft();
  }

  @Test
  void failedStore_whenAQueuedRequestAsks_isAnsweredWithAnError_andTheNextAsks() {
    enqueue();
    engine.enqueue(QUEUED, engine.decide(QUEUED), Long.MAX_VALUE, heard::add);
    assertThat(heard).isEmpty();
    store.failing = true;
    ticker.fake.advance(Duration.ofMillis(600));
    assertThat(heard).hasSize(2);
    assertThat(heard).extracting(Answer::error).allSatisfy(e -> assertThat(e).contains("store"));
    assertThat(engine.metrics().queues().waiting()).isZero();
  }

  @Test
  void failedStore_whenAQueuedRequestHasWaitedForItsSubject_isAnsweredWithAnError() {
    enqueue();
    records.atHand.clear();
    ticker.fake.advance(Duration.ofMillis(600));
    assertThat(heard).isEmpty();
    store.failing = true;
    records.answer(SubjectLimits.NONE);
    assertThat(only().error()).contains("store");
    assertThat(engine.metrics().queues().waiting()).isZero();
    assertNothingIsLeft();
  }

  // The source, the ticker or a callback fails.

  @Test
  void callbackThatEndsInAnError_doesNotKeepTheOthersFromTheirAnswers() {
    engine.decide(
        X,
        answer -> {
          throw new AssertionError("callback");
        });
    engine.decide(X, heard::add);
    assertThatThrownBy(() -> records.answer(SubjectLimits.NONE)).hasMessage("callback");
    assertThat(only().allowed()).isTrue();
    assertThat(engine.metrics().errors()).isZero();
    assertNothingIsLeft();
  }

  @Test
  void timeThatIsOverAtOnce_leavesNoTimer() {
    ticker.atOnce = true;
    engine.decide(X, heard::add);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(only().cause()).isEqualTo("subject");
    assertThat(ticker.cancelled).isEqualTo(1);
    assertNothingIsLeft();
  }

  @Test
  void callbackThatFailsAtTheClose_doesNotKeepTheOthersFromTheirAnswers() {
    for (int i = 0; i < 5; i++) {
      engine.decide(
          Request.of("shop", "a", "x" + i),
          answer -> {
            heard.add(answer);
            throw new AssertionError("callback");
          });
    }
    assertThatThrownBy(engine::close).hasMessage("callback");
    assertThat(heard).hasSize(5);
    assertNothingIsLeft();
  }

  @Test
  void loadThatEndsInAnError_leavesNothingWaiting() {
    records.fail(new NoClassDefFoundError("driver"));
    engine.decide(both("a", "x", "b", "y"), heard::add);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    ticker.fake.advance(WAIT);
    assertNothingIsLeft();
  }

  @Test
  void tickerThatCannotSchedule_leavesNothingWaiting_andNoSubjectUnknownForEver() {
    ticker.failing = true;
    engine.decide(X, heard::add);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    assertNothingIsLeft();
    ticker.failing = false;
    engine.decide(X, heard::add);
    records.answer(SubjectLimits.NONE);
    assertThat(heard.get(1).allowed()).isTrue();
  }

  @Test
  void answerAtOnce_leavesNoTimer() {
    records.answerAtOnce();
    engine.decide(X, heard::add);
    assertThat(only().allowed()).isTrue();
    assertNothingIsLeft();
    engine.close();
    engine.decide(Request.of("shop", "a", "other"), heard::add);
    assertThat(heard).hasSize(2);
    assertNothingIsLeft();
  }

  @Test
  void sourceThatFailsAtOnce_isNotAskedForEveryRequest() {
    records.fail();
    for (int i = 0; i < 1_000; i++) {
      engine.decide(X, heard::add);
    }
    assertThat(heard).hasSize(1_000);
    assertThat(heard).extracting(Answer::reason).containsOnly(Reason.UNCERTAIN);
    assertThat(records.loads).hasValue(1);
    ticker.fake.advance(WAIT);
    engine.decide(X, heard::add);
    assertThat(records.loads).hasValue(2);
    engine.close();
    assertNothingIsLeft();
  }

  @Test
  void failuresThatAreKept_areBounded() {
    records.fail();
    for (int i = 0; i < 1_000; i++) {
      engine.decide(Request.of("shop", "a", "x" + i), heard::add);
    }
    assertThat(ticker.fake.scheduled()).isBetween(1, 10);
    ticker.fake.advance(WAIT);
    assertNothingIsLeft();
  }

  // Bounds.

  @Test
  void requestsThatHang_doNotKeepOthersFromBeingLookedUpBehind() {
    for (int i = 0; i < 20; i++) {
      engine.decide(Request.of("shop", "a", "u" + i), heard::add);
    }
    assertThat(records.loads).hasValue(10);
    for (int i = 0; i < 20; i++) {
      assertThat(engine.decide(Request.of("shop", "quick", "v" + i)).allowed()).isTrue();
    }
    assertThat(records.loads).as("bounded, too").hasValue(20);
    ticker.fake.advance(WAIT);
    assertThat(engine.decide(QUICK).allowed()).isTrue();
    assertThat(records.loads).as("there is room again").hasValue(21);
  }

  @Test
  void manyRequestsOfOneSubject_takeOnePlaceBehind() {
    for (int i = 0; i < 20; i++) {
      assertThat(engine.decide(QUICK).error()).isNull();
    }
    assertThat(engine.decide(Request.of("shop", "quick", "y")).allowed()).isTrue();
    assertThat(records.loads).hasValue(2);
  }

  @Test
  void settings_haveRanges() {
    assertThatThrownBy(() -> new SubjectSettings(1, 0))
        .hasMessage("maxWaiting: 0 (expected: at least 1)");
    assertThatThrownBy(() -> new SubjectSettings(10_000_000_001L, 1))
        .hasMessage("waitNanos: 10000000001 (expected: 1..10000000000)");
    assertThat(new SubjectSettings(10_000_000_000L, 1).maxWaiting()).isEqualTo(1);
  }

  @Test
  void ownLimit_hasARange() {
    assertThatThrownBy(() -> new SubjectLimits.OwnLimit(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("requestsPerUnit: -1 (expected: 0..4294967295)");
    assertThatThrownBy(() -> new SubjectLimits.OwnLimit(1L << 32, 5))
        .hasMessage("requestsPerUnit: 4294967296 (expected: 0..4294967295)");
    assertThat(new SubjectLimits.OwnLimit((1L << 32) - 1).requestsPerUnit()).isPositive();
  }

  // The rest.

  @Test
  void callThatWantsItsAnswerAtOnce_isNotChargedLater() {
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> engine.decide(X)).isInstanceOf(IllegalStateException.class);
    }
    records.answer(SubjectLimits.NONE);
    assertThat(engine.decide(X).statuses().get(0).limitRemaining()).isEqualTo(2);
    assertThat(engine.metrics().requests()).isEqualTo(1);
  }

  @Test
  void severalSubjectsInAnyOrder_areLookedAtOnceEach() {
    records.put("x", SubjectLimits.NONE);
    records.put("y", SubjectLimits.NONE);
    assertThat(engine.decide(both("a", "x", "b", "y", "a", "x")).allowed()).isTrue();
    assertThat(records.finds).hasValue(2);
    assertThat(engine.decide(both("b", "y", "a", "x")).allowed()).isTrue();
    assertThat(records.finds).as("the next request").hasValue(4);
  }

  @Test
  void reloadThatChangesTheSubject_hasTheNewOneLookedUpBehind() {
    String rules =
        """
        domain: shop
        descriptors:
          - key: a
            descriptors:
              - key: b
                rate_limit: {unit: minute, requests_per_unit: 3, by: %s}
        """;
    engine.apply(Fixture.rules(rules.formatted("a")));
    Request request = Request.of("shop", "a", "x", "b", "y");
    engine.decide(request, heard::add);
    engine.apply(Fixture.rules(rules.formatted("b")));
    records.answer(SubjectLimits.NONE);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(records.asked).hasSize(1);
    records.answer(SubjectLimits.NONE);
    assertThat(engine.decide(request).allowed()).isTrue();
  }

  @Test
  void decisionTime_isWithoutTheWait() {
    engine.decide(X, heard::add);
    ticker.fake.advance(Duration.ofMillis(40));
    records.answer(SubjectLimits.NONE);
    assertThat(only().allowed()).isTrue();
    assertThat(engine.metrics().decisionTimeSumNanos()).isZero();
  }

  @Test
  void limitWhoseNumberIsNotKnown_saysSo() {
    engine.decide(X, heard::add);
    ticker.fake.advance(WAIT);
    CurrentLimit limit = Objects.requireNonNull(only().statuses().get(0).currentLimit());
    assertThat(limit.origin()).isEqualTo(LimitOrigin.UNKNOWN);
    assertThat(limit.origin()).hasToString("not known");
    List<Long> given = new ArrayList<>();
    engine.refund(X, only(), given::add);
    assertThat(given).containsExactly(0L);
  }
}
