package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
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
 * The contract of a store for changes of the numbers of a single key, like those of a customer with
 * a plan: {@link Store#variant} of one shape. {@link RuleChangeContract} is about changes for all
 * keys.
 *
 * <p>A key's state is the same under all numbers, so each decision is the one that the algorithm
 * makes from all earlier admissions under the number of the request; and no window holds more than
 * the bound of the largest number under which the key was requested.
 */
public abstract class RecordChangeContract extends StoreFixture {
  private static final long SECOND = 1_000_000_000L;

  private static Policy policy(Algorithm algorithm, long permits) {
    Policy.Builder builder = Policy.builder(Quota.perSecond(permits)).algorithm(algorithm);
    return algorithm == Algorithm.SLIDING_WINDOW_BUCKETS
        ? builder.granularity(Duration.ofNanos(SECOND / 8)).build()
        : builder.build();
  }

  /**
   * Returns the algorithms to try. Default: all rates but {@link Algorithm#SLIDING_WINDOW}, whose
   * shape depends on the number.
   */
  protected List<Algorithm> algorithms() {
    List<Algorithm> algorithms = new ArrayList<>(Algorithm.rates());
    algorithms.remove(Algorithm.SLIDING_WINDOW);
    return algorithms;
  }

  private int admitted(Store store, Binding binding, String key, long now, int asks) {
    int admitted = 0;
    for (int i = 0; i < asks; i++) {
      admitted += request(store, binding, key, now, 1).allowed() ? 1 : 0;
    }
    return admitted;
  }

  /** A request under one of several numbers, with the change of the rule before it, if any. */
  private record Step(GeneratedRequest ask, int number, int rule) {}

  private List<Step> steps(SplittableRandom random, Policy widest, int numbers, int ruleChanges) {
    List<Step> steps = new ArrayList<>();
    long back = random.nextBoolean() ? 0 : SECOND;
    for (GeneratedRequest ask : Traffic.of(random, widest, 150, back, resolutionNanos())) {
      boolean changes = ruleChanges > 0 && random.nextInt(12) == 0;
      int rule = changes ? random.nextInt(ruleChanges) : -1;
      steps.add(new Step(ask, random.nextInt(numbers), rule));
    }
    return steps;
  }

  private static List<Long> numbers(SplittableRandom random, int count) {
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(random.nextInt(6) == 0 ? random.nextLong(2_000) : random.nextLong(40));
    }
    return numbers;
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void numbersOfAKeyFlap_everyDecisionIsThatOfTheOracle() {
    Trials.run(
        getClass().getSimpleName() + ".numbersOfAKeyFlap",
        times(600),
        random -> {
          Algorithm algorithm = algorithms().get(random.nextInt(algorithms().size()));
          List<Long> numbers = numbers(random, 4);
          Policy widest = policy(algorithm, Collections.max(numbers));
          return new Trial<>(
              algorithm + " under " + numbers,
              steps(random, widest, numbers.size(), 0),
              some -> everyDecisionIsRight(algorithm, numbers, some));
        });
  }

  private void everyDecisionIsRight(Algorithm algorithm, List<Long> numbers, List<Step> steps) {
    Store store = store();
    Binding rule = store.bind("rule", policy(algorithm, numbers.get(0)), 0);
    Oracle oracle = oracle(policy(algorithm, numbers.get(0)));
    for (Step step : steps) {
      Policy policy = policy(algorithm, numbers.get(step.number()));
      Binding asked = step.number() == 0 ? rule : store.variant(rule, policy);
      GeneratedRequest ask = step.ask();
      Oracle.Verdict right =
          oracle
              .variant(policy, kind().mostFineNanos())
              .decide(ask.key(), ask.nowNanos(), ask.permits());
      Decision answer = request(store, asked, ask.key(), ask.nowNanos(), ask.permits());
      assertThat(new Oracle.Verdict(answer.allowed(), answer.remaining(), answer.retryAfterNanos()))
          .as("%s", step)
          .isEqualTo(right);
      assertThat(answer.limit()).isEqualTo(policy.burst());
    }
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void numbersOfAKeyFlap_noWindowHoldsMoreThanTheLargest() {
    Trials.run(
        getClass().getSimpleName() + ".noWindowHoldsMore",
        times(600),
        random -> {
          Algorithm algorithm = algorithms().get(random.nextInt(algorithms().size()));
          List<Long> numbers = numbers(random, 4);
          Policy widest = policy(algorithm, Collections.max(numbers));
          return new Trial<>(
              algorithm + " under " + numbers,
              steps(random, widest, numbers.size(), 3),
              some ->
                  assertThat(fullest(algorithm, numbers, some))
                      .isLessThanOrEqualTo(Oracle.bound(widest)));
        });
  }

  /** Changes the rule's own number as well, with some requests in progress under earlier ones. */
  private long fullest(Algorithm algorithm, List<Long> numbers, List<Step> steps) {
    Store store = store();
    List<Operation> history = new ArrayList<>();
    Binding rule = store.bind("rule", policy(algorithm, numbers.get(0)), 0);
    Binding before = rule;
    for (Step step : steps) {
      GeneratedRequest ask = step.ask();
      if (step.rule() >= 0) {
        before = rule;
        rule = store.bind("rule", policy(algorithm, numbers.get(step.rule())), ask.nowNanos());
      }
      Binding base = ask.permits() % 3 == 0 ? before : rule;
      Binding asked = store.variant(base, policy(algorithm, numbers.get(step.number())));
      Decision answer = request(store, asked, ask.key(), ask.nowNanos(), ask.permits());
      history.add(Operation.at(ask.key(), ask.permits(), answer));
    }
    return WindowChecker.maxInAnyWindow(history, SECOND);
  }

  @Test
  void otherKeys_keepTheRulesNumber() {
    for (Algorithm algorithm : algorithms()) {
      Store store = store();
      Binding rule = store.bind("rule", policy(algorithm, 5), 0);
      Binding raised = store.variant(rule, policy(algorithm, 50));
      Binding cut = store.variant(rule, policy(algorithm, 0));
      assertThat(admitted(store, raised, "raised", 0, 60)).as("%s", algorithm).isEqualTo(50);
      assertThat(admitted(store, rule, "other", 0, 60)).as("%s", algorithm).isEqualTo(5);
      assertThat(admitted(store, cut, "cut", 0, 60)).as("%s", algorithm).isZero();
    }
  }

  @Test
  void raisedKey_goesOnWithWhatItHasUsed_andSoDoesOneThatIsCut() {
    for (Algorithm algorithm : algorithms()) {
      Store store = store();
      Binding rule = store.bind("rule", policy(algorithm, 10), 0);
      Binding raised = store.variant(rule, policy(algorithm, 40));
      assertThat(admitted(store, rule, "k", 0, 5)).isEqualTo(5);
      // A bucket keeps its used share: half of it.
      assertThat(admitted(store, raised, "k", 0, 60))
          .as("%s", algorithm)
          .isEqualTo(algorithm.bucket() ? 20 : 35);
      assertThat(admitted(store, rule, "k", 0, 60)).as("%s", algorithm).isZero();
    }
  }

  @Test
  void ruleChangesItsAlgorithm_theRaisedKeyIsKnownByItsOwnNumber() {
    for (Algorithm one : algorithms()) {
      for (Algorithm two : algorithms()) {
        if (one == two) {
          continue;
        }
        Store store = store();
        Binding rule = store.bind("rule", policy(one, 10), 0);
        Binding raised = store.variant(rule, policy(one, 40));
        int before = admitted(store, raised, "k", steps(7), 30);
        rule = store.bind("rule", policy(two, 10), steps(7));
        raised = store.variant(rule, policy(two, 40));
        int after = admitted(store, raised, "k", steps(7), 50);
        rule = store.bind("rule", policy(one, 10), steps(7));
        raised = store.variant(rule, policy(one, 40));
        int again = admitted(store, raised, "k", steps(7), 50);
        assertThat(before).isEqualTo(30);
        assertThat(before + after + again).as("%s and %s", one, two).isLessThanOrEqualTo(40);
      }
    }
  }

  /** Uses three numbers in turn: when the largest has left, the second one still counts. */
  @Test
  void largestNumberHasLeft_ruleChangesItsAlgorithm_theNextLargestIsRemembered() {
    for (Algorithm one : algorithms()) {
      for (Algorithm two : algorithms()) {
        if (one == two) {
          continue;
        }
        Store store = store();
        Binding rule = store.bind("rule", policy(one, 5), 0);
        Binding largest = store.variant(rule, policy(one, 100));
        Binding next = store.variant(rule, policy(one, 99));
        long first = SECOND / 2; // No window that is aligned to the clock ends in the steps below.
        request(store, largest, "k", first, 1);
        request(store, rule, "k", first, 1);
        long late = first + 2 * SECOND + steps(10);
        long before = request(store, next, "k", late - steps(20), 60).allowed() ? 60 : 0;
        before += request(store, rule, "k", late, 1).allowed() ? 1 : 0;
        Binding changed = store.variant(store.bind("rule", policy(two, 5), late), policy(two, 99));
        int after = admitted(store, changed, "k", late + steps(1), 100);
        assertThat(before).isGreaterThanOrEqualTo(60);
        assertThat(before + after).as("%s and %s", one, two).isLessThanOrEqualTo(99);
      }
    }
  }

  @Test
  void refundUnderFlappingNumbers_givesBackNoMoreThanWasPaid() {
    for (Algorithm algorithm : algorithms()) {
      Store store = store();
      Binding ten = store.bind("rule", policy(algorithm, 10), 0);
      Binding hundred = store.variant(ten, policy(algorithm, 100));
      long net = 0;
      for (int i = 0; i < 50; i++) {
        net += request(store, ten, "k", 0, 5).allowed() ? 5 : 0;
        Decision cheap = request(store, hundred, "k", 0, 10);
        net += cheap.allowed() ? 10 : 0;
        Binding asked = i % 2 == 0 ? ten : hundred;
        net -= cheap.allowed() ? refund(store, asked, "k", 10, cheap, 0) : 0;
        assertThat(net).as("%s", algorithm).isLessThanOrEqualTo(100);
      }
    }
  }

  @Test
  void resetUnderAnyNumber_forgetsTheKey() {
    for (Algorithm algorithm : algorithms()) {
      Store store = store();
      Binding rule = store.bind("rule", policy(algorithm, 5), 0);
      Binding raised = store.variant(rule, policy(algorithm, 50));
      assertThat(admitted(store, raised, "k", 0, 60)).isEqualTo(50);
      store.reset(rule, key("k"), 0, done -> {});
      assertThat(admitted(store, raised, "k", 0, 60)).as("%s", algorithm).isEqualTo(50);
    }
  }

  @Test
  void policyOfAnotherShape_isRefused() {
    Store store = store();
    Binding log = store.bind("log", policy(Algorithm.SLIDING_WINDOW_LOG, 5), 0);
    assertThatThrownBy(() -> store.variant(log, policy(Algorithm.FIXED_WINDOW, 5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: the binding's shape");
    Policy longer =
        Policy.builder(Quota.perMinute(5)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    assertThatThrownBy(() -> store.variant(log, longer))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void numbersFlapWhileThreadsDecide_noMoreIsAdmittedThanTheLargest() throws Exception {
    for (Algorithm algorithm : algorithms()) {
      Store store = store();
      AtomicLong admitted = new AtomicLong();
      Binding[] rule = {store.bind("rule", policy(algorithm, 40), 0)};
      inParallel(
          4,
          thread -> {
            for (int i = 0; i < times(1_500); i++) {
              Binding base;
              synchronized (rule) {
                if (thread == 0 && i % 50 == 0) {
                  rule[0] = store.bind("rule", policy(algorithm, 40 + i % 3), 0);
                }
                base = rule[0];
              }
              long number = new long[] {100, 3, 60, 0, 99}[(i + thread) % 5];
              Binding asked = store.variant(base, policy(algorithm, number));
              admitted.addAndGet(request(store, asked, "k", 0, 1).allowed() ? 1 : 0);
            }
          });
      Binding most = store.variant(rule[0], policy(algorithm, 100));
      admitted.addAndGet(admitted(store, most, "k", 0, 200));
      if (algorithm.bucket()) {
        assertThat(admitted.get()).as("%s", algorithm).isBetween(3L, 100L);
      } else {
        assertThat(admitted).as("%s", algorithm).hasValue(100);
      }
    }
  }
}
