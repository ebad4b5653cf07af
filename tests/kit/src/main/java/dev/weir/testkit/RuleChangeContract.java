package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.testkit.Trials.Trial;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of a store for changes of rules: no sequence of changes admits more than the
 * policies allow.
 *
 * <p>For strict policies of one window this is exact: when a request is admitted at {@code t} under
 * a limit of N, at most N permits were admitted in {@code (t - W, t]}, its own included, under any
 * policies. If policies that are not strict come in between, each of them may add the permits that
 * it forgets at its edge: at most its own quota.
 */
public abstract class RuleChangeContract extends StoreFixture {
  private static final long SECOND = 1_000_000_000L;

  /**
   * Returns whether the store refuses one shape too many of a policy, as {@link Store#bind}
   * specifies; a store that cannot have a record of all shapes may accept any number. Default:
   * true.
   */
  protected boolean boundsShapes() {
    return true;
  }

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  private static Policy buckets(long permits, long granuleNanos) {
    return Policy.builder(Quota.perSecond(permits))
        .algorithm(Algorithm.SLIDING_WINDOW_BUCKETS)
        .granularity(Duration.ofNanos(granuleNanos))
        .build();
  }

  private static Policy log(long permits) {
    return policy(Algorithm.SLIDING_WINDOW_LOG, permits);
  }

  private static Policy log(long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos))
        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
        .build();
  }

  /** Returns how many of {@code asks} requests for one permit are admitted, one for each step. */
  private int admitted(Store store, Binding binding, long now, int asks) {
    int admitted = 0;
    for (int i = 0; i < asks; i++) {
      admitted += request(store, binding, "k", now + steps(i), 1).allowed() ? 1 : 0;
    }
    return admitted;
  }

  @Test
  void limitFlapsBetweenTenAndTwenty_admitsTwenty() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      int admitted = 0;
      for (int i = 0; i < 200; i++) {
        Binding binding = store.bind("rule", policy(algorithm, i % 2 == 0 ? 10 : 20), 0);
        admitted += request(store, binding, "k", 0, 1).allowed() ? 1 : 0;
      }
      // A bucket's permit costs its share of the limit that it was admitted under: half of a bucket
      // of 10 is half of one of 20.
      int least = algorithm.bucket() ? 10 : 20;
      assertThat(admitted).as("%s", algorithm).isBetween(least, 20);
    }
  }

  @Test
  void smallLogThenLargerAlgorithmThenLargerLog_knowsAllThatWasAdmitted() {
    Store store = store();
    assertThat(admitted(store, store.bind("rule", log(10), 0), 0, 5)).isEqualTo(5);
    assertThat(admitted(store, store.bind("rule", buckets(100, SECOND / 8), 0), steps(100), 200))
        .isEqualTo(95);
    assertThat(admitted(store, store.bind("rule", log(100), 0), steps(1_000), 200)).isZero();
  }

  @Test
  void logOfAShorterWindow_isNoWitnessForALongerOne() {
    Store store = store();
    long minute = 60 * SECOND;
    assertThat(admitted(store, store.bind("rule", log(10, 60 * minute), 0), 0, 5)).isEqualTo(5);
    Binding shorter = store.bind("rule", log(10, minute), 30 * minute);
    assertThat(admitted(store, shorter, 30 * minute, 1)).isEqualTo(1);
    Binding longer = store.bind("rule", log(6, 59 * minute), 31 * minute);
    assertThat(admitted(store, longer, 31 * minute, 10)).isZero();
  }

  @Test
  void defaultAlgorithmCrossesItsSwitchPoint_andBack() {
    Store store = store();
    Policy small = policy(Algorithm.SLIDING_WINDOW, 10);
    Policy large = policy(Algorithm.SLIDING_WINDOW, 1_000);
    Policy medium = policy(Algorithm.SLIDING_WINDOW, Policy.LOG_LIMIT);
    assertThat(admitted(store, store.bind("rule", small, 0), 0, 20)).isEqualTo(10);
    assertThat(admitted(store, store.bind("rule", large, 0), steps(100), 2_000)).isEqualTo(990);
    assertThat(admitted(store, store.bind("rule", medium, 0), steps(5_000), 200)).isZero();
    assertThat(admitted(store, store.bind("rule", large, 0), steps(6_000), 200)).isZero();
  }

  @Test
  void policyThatNeverSawTheKey_learnsOfItWhenOthersAreAsked() {
    Store store = store();
    assertThat(admitted(store, store.bind("rule", log(100), 0), 0, 100)).isEqualTo(100);
    store.bind("rule", buckets(100, SECOND / 8), 0);
    assertThat(admitted(store, store.bind("rule", buckets(200, SECOND / 16), 0), steps(200), 300))
        .isEqualTo(100);
    assertThat(admitted(store, store.bind("rule", buckets(200, SECOND / 8), 0), steps(900), 300))
        .isZero();
  }

  @Test
  void requestUnderWayByTheOldRule_isKnownToTheNewOne() {
    Store store = store();
    Binding old = store.bind("rule", log(3), 0);
    assertThat(admitted(store, old, 0, 2)).isEqualTo(2);
    Binding fresh = store.bind("rule", buckets(2, SECOND / 8), 0);
    assertThat(admitted(store, old, steps(10), 5)).isEqualTo(1);
    assertThat(admitted(store, fresh, steps(20), 5)).isZero();
  }

  @Test
  void limitOfZero_stillRecords() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      assertThat(admitted(store, store.bind("rule", policy(algorithm, 0), 0), 0, 5)).isZero();
      assertThat(admitted(store, store.bind("rule", buckets(50, SECOND / 8), 0), steps(5), 60))
          .isEqualTo(50);
      assertThat(admitted(store, store.bind("rule", policy(algorithm, 0), 0), steps(70), 5))
          .isZero();
      assertThat(admitted(store, store.bind("rule", policy(algorithm, 50), 0), steps(80), 60))
          .as("%s", algorithm)
          .isZero();
    }
  }

  @Test
  void approximateWitnessAtItsEdge_doesNotHideWhatAnExactOneKnows() {
    Store store = store();
    Policy minutes = Policy.builder(Quota.perMinute(100)).algorithm(Algorithm.FIXED_WINDOW).build();
    store.bind("rule", minutes, 0);
    Binding log = store.bind("rule", log(100), 0);
    long edge = 60 * SECOND;
    assertThat(admitted(store, log, edge - steps(500), 200)).isEqualTo(100);
    Binding buckets = store.bind("rule", buckets(100, SECOND / 8), edge);
    assertThat(admitted(store, buckets, edge, 200)).isZero();
  }

  @Test
  void everyPairOfAlgorithms_thereAndBack_admitsAtMostTheLargerAtAnInstant() {
    for (Algorithm one : Algorithm.values()) {
      for (Algorithm two : Algorithm.values()) {
        for (long permits : new long[] {3, 10, 40}) {
          Store store = store();
          int admitted = 0;
          for (int i = 0; i < 6; i++) {
            Policy policy = i % 2 == 0 ? policy(one, 10) : policy(two, permits);
            Binding binding = store.bind("rule", policy, steps(7));
            // After five refusals at one instant, a sixth request would be refused as well.
            for (int asks = 0, refused = 0; asks < 100 && refused < 5; asks++) {
              boolean allowed = request(store, binding, "k", steps(7), 1).allowed();
              admitted += allowed ? 1 : 0;
              refused += allowed ? 0 : 1;
            }
          }
          assertThat(admitted)
              .as("%s 10 and %s %d", one, two, permits)
              .isBetween(10, (int) Math.max(10, permits));
        }
      }
    }
  }

  @Test
  void clockGoesBackAtTheChange_laterAdmissionsAreStillKnown() {
    Store store = store();
    long late = 10 * SECOND;
    assertThat(admitted(store, store.bind("rule", buckets(10, SECOND / 8), 0), late, 20))
        .isEqualTo(10);
    store.bind("rule", log(10), late - 5 * SECOND);
    Binding again = store.bind("rule", buckets(10, SECOND / 4), late + SECOND / 2);
    assertThat(admitted(store, again, late + SECOND / 2, 20)).isZero();
  }

  /** A request, and the policy that comes into force before it, if any. */
  private record Step(GeneratedRequest ask, int policy, boolean stale) {}

  private List<Step> steps(SplittableRandom random, int policies, long back) {
    List<Step> steps = new ArrayList<>();
    for (GeneratedRequest ask : Traffic.of(random, log(30), 200, back, resolutionNanos())) {
      boolean changes = random.nextInt(8) == 0;
      steps.add(new Step(ask, changes ? random.nextInt(policies) : -1, random.nextInt(10) == 0));
    }
    return steps;
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void strictPoliciesFlap_everyAdmissionFitsItsOwnLimit() {
    Trials.run(
        getClass().getSimpleName() + ".strictPoliciesFlap",
        times(300),
        random -> {
          List<Policy> policies = new ArrayList<>();
          for (int i = 0; i < 7; i++) {
            long permits = random.nextLong(0, 40);
            policies.add(
                switch (random.nextInt(4)) {
                  case 0 -> log(permits);
                  case 1 -> policy(Algorithm.SLIDING_WINDOW, permits * 8);
                  default -> buckets(permits, SECOND / (4L << random.nextInt(3)));
                });
          }
          long back = random.nextBoolean() ? 0 : SECOND;
          return new Trial<>(
              policies.toString(),
              steps(random, policies.size(), back),
              some -> everyAdmissionFits(policies, some));
        });
  }

  private void everyAdmissionFits(List<Policy> policies, List<Step> steps) {
    Store store = store();
    List<Operation> history = new ArrayList<>();
    Binding binding = store.bind("rule", policies.get(0), grid(-Ticker.HORIZON_NANOS));
    Binding before = binding;
    for (Step step : steps) {
      GeneratedRequest ask = step.ask();
      if (step.policy() >= 0) {
        before = binding;
        binding = store.bind("rule", policies.get(step.policy()), ask.nowNanos());
      }
      Binding asked = step.stale() ? before : binding;
      Decision answer = request(store, asked, ask.key(), ask.nowNanos(), ask.permits());
      if (answer.allowed()) {
        history.add(Operation.at(ask.key(), ask.permits(), answer));
        long used = ask.permits() == 0 ? 0 : used(history, ask.key(), answer.atNanos());
        assertThat(used)
            .as("%s under %s", ask, asked.policy())
            .isLessThanOrEqualTo(asked.policy().quota().permits());
      }
    }
  }

  private static long used(List<Operation> history, String key, long at) {
    long used = 0;
    for (Operation each : history) {
      used += each.key().equals(key) && each.startNanos() > at - SECOND ? each.permits() : 0;
    }
    return used;
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void allAlgorithmsFlap_eachAddsAtMostItsOwnEdge() {
    Trials.run(
        getClass().getSimpleName() + ".allAlgorithmsFlap",
        times(300),
        random -> {
          List<Policy> policies = new ArrayList<>();
          long most = 0;
          long edges = 0;
          for (Algorithm algorithm : Algorithm.values()) {
            long permits = random.nextLong(0, 40);
            policies.add(policy(algorithm, permits));
            most = Math.max(most, permits);
            edges += algorithm.strict() ? 0 : permits;
          }
          long bound = most + edges;
          return new Trial<>(
              policies + ", at most " + bound,
              steps(random, policies.size(), random.nextBoolean() ? 0 : SECOND),
              some -> assertThat(flapped(policies, some)).isLessThanOrEqualTo(bound));
        });
  }

  private long flapped(List<Policy> policies, List<Step> steps) {
    Store store = store();
    List<Operation> history = new ArrayList<>();
    Binding binding = store.bind("rule", policies.get(0), grid(-Ticker.HORIZON_NANOS));
    for (Step step : steps) {
      GeneratedRequest ask = step.ask();
      if (step.policy() >= 0) {
        binding = store.bind("rule", policies.get(step.policy()), ask.nowNanos());
      }
      Decision answer = request(store, binding, ask.key(), ask.nowNanos(), ask.permits());
      history.add(Operation.at(ask.key(), ask.permits(), answer));
    }
    return WindowChecker.maxInAnyWindow(history, SECOND);
  }

  @Test
  void refundUnderAFlappingLimit_givesBackNoMoreThanWasPaid() {
    Store store = store();
    Policy ten = policy(Algorithm.TOKEN_BUCKET, 10);
    Policy hundred = policy(Algorithm.TOKEN_BUCKET, 100);
    long net = 0;
    for (int i = 0; i < 50; i++) {
      Binding binding = store.bind("rule", ten, 0);
      net += request(store, binding, "k", 0, 5).allowed() ? 5 : 0;
      binding = store.bind("rule", hundred, 0);
      Decision cheap = request(store, binding, "k", 0, 10);
      net += cheap.allowed() ? 10 : 0;
      binding = store.bind("rule", ten, 0);
      net -= cheap.allowed() ? refund(store, binding, "k", 10, cheap, 0) : 0;
      assertThat(net).isLessThanOrEqualTo(100);
    }
  }

  @Test
  void retiredRuleThatComesBack_remembers() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      assertThat(admitted(store, store.bind("rule", policy(algorithm, 5), 0), 0, 9)).isEqualTo(5);
      store.retire("rule", steps(10));
      store.expire(steps(20));
      Binding again = store.bind("rule", policy(algorithm, 5), steps(30));
      assertThat(admitted(store, again, steps(30), 9)).isZero();
    }
  }

  @Test
  void retiredRuleLongGone_takesNoMemory_andAStaleBindingCountsWithItsSuccessor() {
    Store store = store();
    Binding stale = store.bind("rule", log(5), 0);
    assertThat(admitted(store, stale, 0, 9)).isEqualTo(5);
    store.retire("rule", steps(10));
    long later = 10 * SECOND;
    store.expire(later);
    assertKeys(store, 0);
    assertBytes(store, 0);

    Binding fresh = store.bind("rule", log(5), later);
    assertThat(admitted(store, stale, later, 3) + admitted(store, fresh, later + steps(5), 9))
        .isEqualTo(5);
  }

  @Test
  void tooManyShapesInOneWindow_isRefusedAndChangesNothing() {
    Store store = store();
    Binding binding = null;
    int taken = 0;
    while (taken < 100) {
      Policy policy = buckets(5, SECOND / 4 + steps(taken));
      try {
        binding = store.bind("rule", policy, 0);
      } catch (IllegalStateException tooMany) {
        assertThat(tooMany).hasMessageContaining("rule").hasMessageContaining("expected: at most");
        break;
      }
      taken++;
    }
    assertThat(taken).isBetween(4, boundsShapes() ? 99 : 100);
    Binding last = Objects.requireNonNull(binding);
    assertThat(admitted(store, last, 0, 9)).isEqualTo(5);
    Policy oneMore = buckets(5, SECOND / 5);
    if (boundsShapes()) {
      assertThatThrownBy(() -> store.bind("rule", oneMore, steps(1)))
          .isInstanceOf(IllegalStateException.class);
    }
    long later = 10 * SECOND;
    Binding again = store.bind("rule", oneMore, later);
    assertThat(admitted(store, again, later, 9)).isEqualTo(5);
  }

  @Test
  void staleBindingBesideTooManyShapes_isStillDecided() {
    Store store = store();
    Policy brief =
        Policy.builder(Quota.of(5, Duration.ofMillis(1)))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    Binding stale = store.bind("rule", brief, 0);
    for (int i = 0; i < 8; i++) {
      store.bind("rule", buckets(5, SECOND / 4 + steps(i)), 5_000_000L * (i + 1));
    }
    assertThat(admitted(store, stale, 50_000_000L, 9)).isEqualTo(5);
  }

  @Test
  void rulesChangeWhileThreadsDecide_noMoreIsAdmitted() throws Exception {
    for (int round = 0; round < 5; round++) {
      Store store = store();
      List<Policy> policies =
          List.of(
              log(60),
              buckets(100, SECOND / 8),
              policy(Algorithm.FIXED_WINDOW, 80),
              policy(Algorithm.TOKEN_BUCKET, 100),
              buckets(90, SECOND / 16),
              log(100));
      Binding[] current = {store.bind("rule", policies.get(0), 0)};
      AtomicLong admitted = new AtomicLong();
      inParallel(
          4,
          thread -> {
            for (int i = 0; i < 400; i++) {
              if (thread == 0) {
                Binding changed = store.bind("rule", policies.get(i % policies.size()), 0);
                synchronized (current) {
                  current[0] = changed;
                }
              }
              Binding binding;
              synchronized (current) {
                binding = current[0];
              }
              admitted.addAndGet(request(store, binding, "k", 0, 1).allowed() ? 1 : 0);
            }
          });
      Binding full = store.bind("rule", log(100), 0);
      admitted.addAndGet(admitted(store, full, 0, 200));
      assertThat(admitted).hasValue(100);
    }
  }
}
