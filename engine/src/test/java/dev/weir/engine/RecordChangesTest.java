package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that change while requests are decided, through the engine. */
class RecordChangesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: d
      plans:
        big: {r: {requests_per_unit: 40}}
        small: {r: {requests_per_unit: 2}}
        none: {r: {requests_per_unit: 0}}
      descriptors:
        - key: user
          rate_limit: {name: r, unit: second, requests_per_unit: 5, by: user, algorithm: %s}
      """;

  private final FakeTicker ticker = new FakeTicker(1_000_000 * SECOND);
  private final FakeRecords records = new FakeRecords();

  private Engine engine(Store store, String algorithm) {
    Engine engine =
        Engine.builder(store).ticker(ticker).subjects(records, SubjectSettings.DEFAULTS).build();
    engine.apply(Fixture.rules(RULES.formatted(algorithm)));
    return engine;
  }

  /** A record as a person reads it; the engine must agree with it. */
  private record Plain(String plan, long own, long until) {
    long number(long now) {
      if (own >= 0 && now < until) {
        return own;
      }
      return switch (plan) {
        case "big" -> 40;
        case "small" -> 2;
        case "none" -> 0;
        default -> 5;
      };
    }

    SubjectLimits limits() {
      Map<String, SubjectLimits.OwnLimit> limits = new HashMap<>();
      if (own >= 0) {
        limits.put("r", new SubjectLimits.OwnLimit(own, until));
      }
      return new SubjectLimits(plan.isEmpty() ? null : plan, limits);
    }
  }

  private static Plain random(SplittableRandom random, long now) {
    List<String> plans = List.of("", "big", "small", "none");
    boolean own = random.nextInt(3) == 0;
    return new Plain(
        plans.get(random.nextInt(plans.size())),
        own ? random.nextLong(60) : -1,
        random.nextBoolean() ? Long.MAX_VALUE : now + random.nextLong(2 * SECOND));
  }

  /** Compares each decision with a list of all admissions; so no window holds too much. */
  @ParameterizedTest
  @ValueSource(strings = {"sliding-window-log", "fixed-window"})
  void recordsFlap_everyDecisionIsThatOfAPlainList(String algorithm) {
    boolean log = algorithm.equals("sliding-window-log");
    SplittableRandom random = Trials.random("records flap, " + algorithm);
    Engine engine = engine(new MemoryStore(1_000), algorithm);
    Map<String, Plain> truth = new HashMap<>();
    Map<String, List<Long>> admitted = new HashMap<>();
    int refused = 0;
    for (int i = 0; i < 50_000; i++) {
      ticker.advance(random.nextInt(4) == 0 ? random.nextLong(SECOND / 4) : random.nextLong(5));
      long now = ticker.nanos();
      String user = "u" + random.nextInt(4);
      if (!truth.containsKey(user) || random.nextInt(8) == 0) {
        truth.put(user, random(random, now));
        records.put(user, truth.get(user).limits());
      }
      if (random.nextInt(500) == 0) {
        engine.apply(Fixture.rules(RULES.formatted(algorithm))); // The same rules once more.
      }
      List<Long> past = admitted.computeIfAbsent(user, key -> new ArrayList<>());
      long from = log ? now - SECOND + 1 : now - Math.floorMod(now, SECOND);
      long used = past.stream().filter(at -> at >= from).count();
      long number = truth.get(user).number(now);
      Answer answer = engine.decide(Request.of("d", "user", user));
      assertThat(answer.allowed()).as("%d: %d of %d", i, used, number).isEqualTo(used < number);
      assertThat(Objects.requireNonNull(answer.statuses().get(0).currentLimit()).requestsPerUnit())
          .isEqualTo(number);
      if (answer.allowed()) {
        past.add(now);
        past.removeIf(at -> at < now - 2 * SECOND);
      } else {
        refused++;
      }
    }
    assertThat(refused).isBetween(5_000, 45_000);
  }

  @Test
  void recordFlapsUnderLoad_andIsForgottenAndLoaded_noMoreIsAdmittedThanTheLargest()
      throws Exception {
    Engine engine = engine(new MemoryStore(1_000), "sliding-window-log");
    Request alice = Request.of("d", "user", "alice");
    List<SubjectLimits> flapping =
        List.of(
            FakeRecords.plan("big"),
            FakeRecords.plan("small"),
            SubjectLimits.NONE,
            FakeRecords.own("r", 39));
    int threads = 3;
    int each = 4_000;
    AtomicInteger admitted = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(threads * each);
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService pool = Executors.newFixedThreadPool(threads + 1);
    try {
      Future<?> changing =
          pool.submit(
              () -> {
                for (int i = 0; !over.get(); i++) {
                  SubjectLimits next = flapping.get(i % flapping.size());
                  if (i % 3 == 0) {
                    records.atHand.remove("alice");
                  } else {
                    records.put("alice", next);
                  }
                  FakeRecords.Asked asked;
                  synchronized (records.asked) {
                    asked = records.asked.poll();
                  }
                  if (asked != null) {
                    asked.done().accept(next);
                  }
                }
              });
      List<Future<?>> asking = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        asking.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < each; i++) {
                    engine.decide(
                        alice,
                        answer -> {
                          admitted.addAndGet(answer.allowed() ? 1 : 0);
                          answered.countDown();
                        });
                  }
                }));
      }
      for (Future<?> one : asking) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(answered.await(60, TimeUnit.SECONDS)).as("all are answered").isTrue();
      over.set(true);
      changing.get(60, TimeUnit.SECONDS);
    } finally {
      over.set(true);
      pool.shutdownNow();
    }
    records.put("alice", FakeRecords.plan("big"));
    for (int i = 0; i < 50; i++) {
      admitted.addAndGet(engine.decide(alice).allowed() ? 1 : 0);
    }
    assertThat(admitted).hasValue(40);
    assertThat(engine.subjectMetrics().waiting()).isZero();
  }

  @Test
  void storeThatAnswersLater_decidesByTheSubjectsNumber() {
    LateStore late = new LateStore();
    Engine engine = engine(RoutedStore.of(new MemoryStore(1_000), late), "token-bucket");
    List<Answer> heard = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      engine.decide(Request.of("d", "user", "alice"), heard::add);
    }
    assertThat(heard).isEmpty();
    records.answer(FakeRecords.plan("big"));
    assertThat(heard).as("now the store is asked").isEmpty();
    assertThat(late.answer()).isEqualTo(50);
    assertThat(heard).hasSize(50);
    assertThat(heard.stream().filter(Answer::allowed)).hasSize(40);
  }

  @Test
  void queueOfARaisedSubject_servesByItsNumber() {
    Engine engine = engine(new MemoryStore(1_000), "fixed-window");
    engine.apply(
        Fixture.rules(
            """
            domain: d
            plans: {big: {r: {requests_per_unit: 4}}}
            descriptors:
              - key: user
                rate_limit:
                  name: r
                  unit: second
                  requests_per_unit: 2
                  by: user
                  algorithm: fixed-window
                  on_limit: {queue: {requests: 2, wait: 5s}}
            """));
    records.put("alice", FakeRecords.plan("big"));
    Request alice = Request.of("d", "user", "alice");
    for (int i = 0; i < 4; i++) {
      assertThat(engine.decide(alice).allowed()).isTrue();
    }
    List<Boolean> served = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Answer refused = engine.decide(alice);
      engine.enqueue(alice, refused, 5 * SECOND, answer -> served.add(answer.allowed()));
    }
    records.atHand.clear(); // Waiting requests load it anew, and wait for the record as well.
    ticker.advance(Duration.ofSeconds(1));
    assertThat(served).isEmpty();
    records.answer(FakeRecords.plan("big"));
    ticker.advance(1);
    assertThat(served).containsExactly(true, true);
  }
}
