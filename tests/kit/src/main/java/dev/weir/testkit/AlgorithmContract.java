package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.testkit.Trials.Trial;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of every algorithm on every store. A test class for one store extends it, usually
 * with the algorithm as the parameter of the class.
 *
 * <p>Three kinds of tests complete each other. Random trials compare every answer with an {@link
 * Oracle}, and check that no window holds more than the algorithm's bound, that a retry-after is
 * exact, and that refunds and changes of the limit never admit too much; a trial that fails is
 * shortened and printed with its seed. Tables check cases that are rare in random traffic: the
 * bound is reached, extreme quotas and costs, a clock that steps across all time, refundable
 * permits. Threads share one key, with one clock and with clocks that race, where only the bound
 * can be checked.
 */
public abstract class AlgorithmContract extends StoreFixture {
  private static final long SECOND = 1_000_000_000L;
  private static final long[] WINDOWS = {
    Quota.MIN_WINDOW_NANOS, SECOND, 60 * SECOND, Quota.MAX_WINDOW_NANOS
  };

  private final Algorithm algorithm;

  /** Sets the algorithm that is tested. */
  protected AlgorithmContract(Algorithm algorithm) {
    this.algorithm = algorithm;
  }

  /**
   * Returns any policy of the algorithm. Default: over the whole range of its options.
   *
   * @param random the source of the choices
   */
  protected Policy randomPolicy(SplittableRandom random) {
    return Traffic.policy(random, algorithm, resolutionNanos());
  }

  /** Returns the policy of that quota with the algorithm's usual options. */
  protected final Policy policy(Quota quota) {
    return Policy.builder(quota).algorithm(algorithm).build();
  }

  private Policy policy(long permits, long windowNanos) {
    return policy(new Quota(permits, windowNanos));
  }

  private String named(String test) {
    return getClass().getSimpleName() + "." + algorithm + "." + test;
  }

  private void trials(String test, int count, int asks, RunProperty property) {
    Trials.run(
        named(test),
        times(count),
        random -> {
          Policy policy = randomPolicy(random);
          long back = random.nextBoolean() ? 0 : policy.quota().windowNanos() * 3 / 2;
          List<GeneratedRequest> events = Traffic.of(random, policy, asks, back, resolutionNanos());
          return new Trial<>(describe(policy), events, some -> replay(policy, some, property));
        });
  }

  /** A property that must hold for a whole run. */
  private interface RunProperty {
    void check(Policy policy, Store store, Binding binding, List<GeneratedRequest> asks);
  }

  private void replay(Policy policy, List<GeneratedRequest> asks, RunProperty property) {
    Store store = store();
    long first = asks.isEmpty() ? 0 : asks.get(0).nowNanos();
    property.check(policy, store, store.bind("rule", policy, first), asks);
  }

  private static String describe(Policy policy) {
    return policy + ", burst " + policy.burst() + ", granule " + policy.granularityNanos() + " ns";
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void everyAnswer_agreesWithTheOracle() {
    trials(
        "everyAnswer_agreesWithTheOracle",
        400,
        120,
        (policy, store, binding, asks) -> {
          Oracle oracle = oracle(policy);
          for (GeneratedRequest ask : asks) {
            Oracle.Verdict right = oracle.decide(ask.key(), ask.nowNanos(), ask.permits());
            Decision answer = request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
            assertThat(verdict(answer)).as("%s", ask).isEqualTo(right);
            assertThat(answer.remaining()).isBetween(0L, policy.burst());
            assertThat(answer.resetAfterNanos()).isNotNegative();
            if (!policy
                .algorithm()
                .bucket()) { // A bucket's reset-after is in nanoseconds, because a refund needs it.
              assertThat(grid(answer.resetAfterNanos())).isEqualTo(answer.resetAfterNanos());
            }
            assertThat(grid(answer.atNanos())).isEqualTo(answer.atNanos());
            assertThat(answer.reason())
                .isEqualTo(right.allowed() ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT);
          }
        });
  }

  private static Oracle.Verdict verdict(Decision decision) {
    return new Oracle.Verdict(decision.allowed(), decision.remaining(), decision.retryAfterNanos());
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void noWindow_holdsMoreThanTheBound() {
    trials(
        "noWindow_holdsMoreThanTheBound",
        200,
        200,
        (policy, store, binding, asks) -> {
          List<Operation> history = new ArrayList<>();
          for (GeneratedRequest ask : asks) {
            Decision answer = request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
            history.add(Operation.at(ask.key(), ask.permits(), answer));
          }
          assertBounded(history, policy);
        });
  }

  private static void assertBounded(List<Operation> history, Policy policy) {
    long window = policy.quota().windowNanos();
    assertThat(WindowChecker.fullest(history, window))
        .as("fullest window")
        .satisfies(most -> assertThat(most.permits()).isLessThanOrEqualTo(Oracle.bound(policy)));
    assertThat(WindowChecker.fullest(history, 1))
        .as("fullest instant")
        .satisfies(most -> assertThat(most.permits()).isLessThanOrEqualTo(policy.burst()));
  }

  @Test
  void bound_isReached() {
    for (long windowNanos : WINDOWS) {
      Policy policy = policy(10, windowNanos);
      Store store = store();
      Binding binding = store.bind("rule", policy, 0);
      List<Operation> history = new ArrayList<>();
      long edge = 5 * windowNanos;
      long emission = windowNanos / 10;
      long start = edge - steps(1);
      // All permits just before an edge, then as many as possible within the window.
      List<Long> times = new ArrayList<>(List.of(start, edge, start + windowNanos - steps(1)));
      for (long at = start + emission; at < start + windowNanos; at += emission) {
        times.add(at);
      }
      times.sort(null);
      for (long at : times) {
        for (int i = 0; i < 10; i++) {
          Decision answer = request(store, binding, "key", at, 1);
          history.add(Operation.at("key", 1, answer));
        }
      }
      assertThat(WindowChecker.maxInAnyWindow(history, windowNanos))
          .isEqualTo(Oracle.bound(policy));
    }
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void retryAfter_isExact() {
    trials(
        "retryAfter_isExact",
        200,
        60,
        (policy, store, binding, asks) -> {
          for (GeneratedRequest ask : asks) {
            Decision answer = request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
            long retry = answer.retryAfterNanos();
            if (answer.allowed()) {
              assertThat(retry).isZero();
            } else if (retry == Decision.NEVER) {
              boolean never = ask.permits() > policy.burst() || policy.quota().permits() == 0;
              assertThat(never).as("%s can never pass", ask).isTrue();
            } else {
              long at = ask.nowNanos() + retry;
              assertThat(peek(store, binding, ask.key(), at - steps(1), ask.permits()).allowed())
                  .as("%s, a step before %d ns have passed", ask, retry)
                  .isFalse();
              assertThat(peek(store, binding, ask.key(), at, ask.permits()).allowed())
                  .as("%s, after %d ns", ask, retry)
                  .isTrue();
            }
          }
        });
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void peekDenialAndZeroPermits_changeNothing() {
    trials(
        "peekDenialAndZeroPermits_changeNothing",
        100,
        80,
        (policy, store, binding, asks) -> {
          Store quiet = store();
          Binding other = quiet.bind("rule", policy, 0);
          for (GeneratedRequest ask : asks) {
            long later = ask.nowNanos() + steps(1_000);
            peek(store, binding, ask.key(), later, 1);
            request(store, binding, ask.key(), later, 0);
            request(store, binding, ask.key(), later, policy.burst() + 1);
            request(store, binding, ask.key(), ask.nowNanos(), -1);
            assertThat(request(store, binding, ask.key(), ask.nowNanos(), ask.permits()))
                .isEqualTo(request(quiet, other, ask.key(), ask.nowNanos(), ask.permits()));
          }
          assertKeys(store, quiet.keys());
        });
  }

  @Test
  void costs_zeroPassesNegativeIsInvalidTooMuchIsNever() {
    Policy policy = policy(10, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);

    for (long permits : new long[] {-1, -10, Long.MIN_VALUE}) {
      Decision answer = request(store, binding, "key", 0, permits);
      assertThat(answer.allowed()).isFalse();
      assertThat(answer.reason()).isEqualTo(Reason.INVALID);
      assertThat(answer.retryAfterNanos()).isEqualTo(Decision.NEVER);
    }
    for (long permits : new long[] {11, Quota.MAX_PERMITS, 1L << 33, Long.MAX_VALUE}) {
      Decision answer = request(store, binding, "key", 0, permits);
      assertThat(answer.allowed()).isFalse();
      assertThat(answer.reason()).isEqualTo(Reason.OVER_LIMIT);
      assertThat(answer.retryAfterNanos()).isEqualTo(Decision.NEVER);
    }
    assertThat(request(store, binding, "key", 0, 10).allowed()).isTrue();
    assertThat(request(store, binding, "key", 0, 0).allowed()).isTrue();
    assertThat(request(store, binding, "key", 0, 1).allowed()).isFalse();
  }

  @Test
  void extremeQuotas_admitAtOneInstantExactlyTheirPermits() {
    for (long windowNanos : WINDOWS) {
      for (long permits : new long[] {0, 1, Quota.MAX_PERMITS}) {
        Policy policy = policy(permits, windowNanos);
        for (long time : new long[] {0, -(1L << 62), 1L << 62, 1L << 61, Long.MAX_VALUE}) {
          long now = grid(time);
          Store store = store();
          Binding binding = store.bind("rule", policy, now);
          Decision fresh = peek(store, binding, "key", now, 1);
          assertThat(fresh.allowed()).isEqualTo(permits > 0);
          assertThat(fresh.remaining()).isEqualTo(permits);
          assertThat(fresh.resetAfterNanos()).isZero();
          if (permits > 1) {
            assertThat(request(store, binding, "key", now, permits - 1).allowed()).isTrue();
          }
          assertThat(request(store, binding, "key", now, 1).allowed()).isEqualTo(permits > 0);
          assertThat(request(store, binding, "key", now, 1).allowed()).isFalse();
          assertBytes(store, 1 << 20);
        }
      }
    }
  }

  @Test
  void clockThatStepsAcrossAllTime_admitsNoMore() {
    Policy policy = policy(3, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    long far = grid(1L << 62);

    int admitted = 0;
    for (int i = 0; i < 20; i++) {
      admitted += request(store, binding, "key", far, 1).allowed() ? 1 : 0;
      Decision back = request(store, binding, "key", -far, 1);
      admitted += back.allowed() ? 1 : 0;
      assertThat(back.retryAfterNanos()).isNotNegative();
    }
    assertThat(admitted).isEqualTo(3);
  }

  /** An event in a trial of refunds: a request, or the refund of an earlier one. */
  private record Step(GeneratedRequest ask, int refundOf, long permits) {
    @Override
    public String toString() {
      return ask + (refundOf < 0 ? "" : "; gives back " + permits + " of admission " + refundOf);
    }
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void refunds_neverAdmitTooMuch() {
    Trials.run(
        named("refunds_neverAdmitTooMuch"),
        times(600),
        random -> {
          Policy policy = randomPolicy(random);
          long back = random.nextBoolean() ? 0 : policy.quota().windowNanos() * 3 / 2;
          List<Step> steps = new ArrayList<>();
          for (GeneratedRequest ask : Traffic.of(random, policy, 60, back, resolutionNanos())) {
            boolean refunds = random.nextInt(3) == 0;
            long permits = random.nextBoolean() ? Long.MAX_VALUE : random.nextLong(1, 4);
            steps.add(new Step(ask, refunds ? random.nextInt(12) : -1, permits));
          }
          return new Trial<>(describe(policy), steps, some -> netStaysWithinBound(policy, some));
        });
  }

  private void netStaysWithinBound(Policy policy, List<Step> steps) {
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    List<GeneratedRequest> asked = new ArrayList<>();
    List<Decision> decisions = new ArrayList<>();
    List<Long> net = new ArrayList<>();
    List<Boolean> open = new ArrayList<>();
    for (Step step : steps) {
      GeneratedRequest ask = step.ask();
      int i = decisions.size() - 1 - step.refundOf();
      if (step.refundOf() >= 0 && i >= 0 && open.get(i)) {
        long permits = Math.min(step.permits(), net.get(i));
        String key = asked.get(i).key();
        long given = refund(store, binding, key, permits, decisions.get(i), ask.nowNanos());
        assertThat(given).isBetween(0L, permits);
        net.set(i, net.get(i) - given);
        open.set(i, false);
      }
      Decision answer = request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
      if (answer.allowed() && ask.permits() > 0) {
        asked.add(ask);
        decisions.add(answer);
        net.add(ask.permits());
        open.add(true);
      }
    }
    List<Operation> history = new ArrayList<>();
    for (int i = 0; i < net.size(); i++) {
      history.add(Operation.admitted(asked.get(i).key(), net.get(i), decisions.get(i).atNanos()));
    }
    assertBounded(history, policy);
  }

  @Test
  void lastCharge_isGivenBackWhole() {
    Policy policy = policy(10, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    long now = steps(5);
    assertThat(request(store, binding, "key", now, 4).allowed()).isTrue();
    Decision charged = request(store, binding, "key", now, 6);

    assertThat(request(store, binding, "key", now, 1).allowed()).isFalse();
    assertThat(refund(store, binding, "key", 6, charged, now)).isEqualTo(6);
    assertThat(request(store, binding, "key", now, 7).allowed()).isFalse();
    assertThat(request(store, binding, "key", now, 6).allowed()).isTrue();
    assertThat(refund(store, binding, "unknown", 6, charged, now)).isZero();
  }

  /** In a leaky bucket the later charge has its place in the queue by the earlier one. */
  @Test
  void chargeBehindAnother_keepsItsPlaceInALeakyBucket() {
    Policy policy = policy(10, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    long now = steps(5);
    Decision first = request(store, binding, "key", now, 4);
    assertThat(request(store, binding, "key", now, 2).allowed()).isTrue();
    boolean leaky = policy.algorithm() == Algorithm.LEAKY_BUCKET;
    assertThat(refund(store, binding, "key", 4, first, now)).isEqualTo(leaky ? 0 : 4);
    assertThat(request(store, binding, "key", now, leaky ? 5 : 9).allowed()).isFalse();
    assertThat(request(store, binding, "key", now, leaky ? 4 : 8).allowed()).isTrue();
  }

  @Test
  void chargeThatNoLongerCounts_isNotGivenBack() {
    Policy policy = policy(10, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    Decision charged = request(store, binding, "key", steps(5), 6);

    long later = steps(5) + 2 * SECOND;
    assertThat(refund(store, binding, "key", 6, charged, later)).isZero();
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void flappingLimit_neverAdmitsMoreThanTheLargest() {
    Trials.run(
        named("flappingLimit"),
        times(100),
        random -> {
          long largest = random.nextLong(1, 40);
          Policy widest = policy(largest, SECOND);
          List<GeneratedRequest> asks =
              Traffic.of(random, widest, 200, SECOND / 4, resolutionNanos());
          List<Long> limits = random.longs(200, 0, largest + 1).boxed().toList();
          return new Trial<>(
              "limits " + limits,
              asks,
              some -> {
                Store store = store();
                List<Operation> history = new ArrayList<>();
                Binding binding = store.bind("rule", widest, 0);
                for (int i = 0; i < some.size(); i++) {
                  GeneratedRequest ask = some.get(i);
                  if (i % 3 == 0) {
                    binding = store.bind("rule", policy(limits.get(i), SECOND), ask.nowNanos());
                  }
                  Decision answer =
                      request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
                  history.add(Operation.at(ask.key(), ask.permits(), answer));
                }
                assertBounded(history, widest);
              });
        });
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void forgetting_isLossFree() {
    trials(
        "forgetting_isLossFree",
        100,
        120,
        (policy, store, binding, asks) -> {
          Oracle oracle = oracle(policy);
          long latest = Long.MIN_VALUE;
          for (GeneratedRequest ask : asks) {
            // Expires by the callers' clock: a request with a time before the latest instant is
            // decided at that one.
            latest = Math.max(latest, ask.nowNanos());
            for (int i = 0; i < 16; i++) {
              store.expire(latest);
            }
            assertThat(verdict(request(store, binding, ask.key(), latest, ask.permits())))
                .isEqualTo(oracle.decide(ask.key(), latest, ask.permits()));
          }
          for (int i = 0; i < 16; i++) {
            store.expire(latest + 3 * policy.quota().windowNanos() + grid(1L << 60));
          }
          assertKeys(store, 0);
        });
  }

  @Test
  void eightThreadsOnOneKey_admitExactlyTheLimit() throws Exception {
    Policy policy = policy(1_000, 60 * SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    AtomicLong admitted = new AtomicLong();
    AtomicLong unanswered = new AtomicLong();

    inParallel(
        8,
        thread -> {
          for (int i = 0; i < 300; i++) {
            Charges charges = decide(store, new Charges().add(binding, key("hot"), 1), steps(7));
            admitted.addAndGet(charges.allowed() ? 1 : 0);
            boolean expected =
                charges.reason(0) == (charges.allowed() ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT);
            unanswered.addAndGet(expected ? 0 : 1);
          }
        });

    assertThat(admitted).hasValue(1_000);
    assertThat(unanswered).hasValue(0);
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void eightThreadsWithRacingClocks_stayWithinTheBound() throws Exception {
    Policy policy = policy(50, SECOND);
    Store store = store();
    Binding binding = store.bind("rule", policy, 0);
    FakeTicker ticker = new FakeTicker();
    List<Operation> history = Collections.synchronizedList(new ArrayList<>());
    int each = Math.max(200, times(1_000));

    inParallel(
        8,
        thread -> {
          for (int i = 0; i < each; i++) {
            long now = ticker.advance(Duration.ofMillis(1)).nanos();
            history.add(Operation.at("hot", 1, request(store, binding, "hot", now, 1)));
          }
        });

    assertBounded(history, policy);
    assertThat(history).filteredOn(Operation::allowed).hasSizeGreaterThan(each * 3 / 10);
  }
}
