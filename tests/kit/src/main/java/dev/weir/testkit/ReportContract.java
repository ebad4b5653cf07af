package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.testkit.Trials.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of every store for reports of costs, which are counted whatever is left. It is a
 * part of {@link StoreContract}.
 */
public abstract class ReportContract extends TogetherContract {
  private static final long SECOND = 1_000_000_000L;
  private static final long START = 100 * SECOND;

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  private static Charges report(Binding binding, long permits, Role role) {
    return new Charges().add(binding, key("k"), permits, role);
  }

  private static Charges report(Store store, Binding binding, long nowNanos, long permits) {
    return decide(store, report(binding, permits, Role.REPORTED), nowNanos);
  }

  @Test
  void report_isCountedWhateverIsLeft_andItsDebtRefuses() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding binding = store.bind("rule", policy(algorithm, 10), START);
      Charges first = report(store, binding, START, 7);
      assertThat(first.allowed()).as("%s", algorithm).isTrue();
      assertThat(first.remaining(0)).isEqualTo(3);
      assertThat(report(store, binding, START, 0).allowed()).isTrue();

      Charges second = report(store, binding, START, 7);
      assertThat(second.allowed()).as("%s", algorithm).isFalse();
      assertThat(second.reason(0)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(second.remaining(0)).isEqualTo(-4);
      assertThat(request(store, binding, "k", START, 1).allowed()).isFalse();
      Charges question = report(store, binding, START, 0);
      assertThat(question.allowed()).isFalse();
      assertThat(question.remaining(0)).isZero();

      long retry = onGrid(second.retryAfterNanos(0));
      assertThat(onGrid(question.retryAfterNanos(0))).as("%s", algorithm).isEqualTo(retry);
      assertThat(report(store, binding, START + retry - steps(1), 0).allowed()).isFalse();
      assertThat(report(store, binding, START + retry, 0).allowed()).as("%s", algorithm).isTrue();
    }
  }

  @Test
  void reportOfAnySize_endsInRange() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding binding = store.bind("rule", policy(algorithm, 10), START);
      for (int i = 0; i < 20; i++) {
        Charges huge = report(store, binding, START + grid(i), Long.MAX_VALUE);
        assertThat(huge.allowed()).as("%s", algorithm).isFalse();
        assertThat(huge.remaining(0)).as("%s", algorithm).isLessThan(-1_000_000);
        assertThat(huge.retryAfterNanos(0)).isPositive();
        assertThat(huge.resetAfterNanos(0)).isPositive();
      }
    }
  }

  @Test
  void reportBesideARefusal_isCounted_andRefusesOthers() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding tokens = store.bind("tokens", policy(algorithm, 10), START);
      Binding none = store.bind("none", policy(algorithm, 0), START);
      Binding requests = store.bind("requests", policy(algorithm, 5), START);
      Charges refused = report(tokens, 4, Role.REPORTED).add(none, key("k"), 1);
      assertThat(decide(store, refused, START).allowed()).isFalse();
      assertThat(refused.fits(0)).as("%s", algorithm).isTrue();
      assertThat(refused.remaining(0)).isEqualTo(6);

      Charges inDebt = report(tokens, 9, Role.REPORTED).add(requests, key("k"), 1);
      assertThat(decide(store, inDebt, START).allowed()).as("%s", algorithm).isFalse();
      assertThat(inDebt.remaining(0)).isEqualTo(-3);
      assertThat(peek(store, requests, "k", START, 5).allowed()).as("%s", algorithm).isTrue();
    }
  }

  @Test
  void shadowOfAReport_countsAndRefusesNothing_andAPeekCountsNothing() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding binding = store.bind("rule", policy(algorithm, 10), START);
      assertThat(decide(store, report(binding, 20, Role.REPORTED).peek(), START).allowed())
          .isFalse();
      assertThat(report(store, binding, START, 0).remaining(0)).isEqualTo(10);
      Charges shadow = decide(store, report(binding, 12, Role.REPORTED_SHADOW), START);
      assertThat(shadow.allowed()).as("%s", algorithm).isTrue();
      assertThat(shadow.reason(0)).isEqualTo(Reason.OVER_LIMIT);
      assertThat(shadow.remaining(0)).isEqualTo(-2);
    }
  }

  /** A request for a key's permits, or a report of them. */
  private record Step(long nowNanos, long permits, boolean report) {}

  @Tag("model")
  @Tag("sample")
  @Test
  void requestsAndReports_agreeWithTheOracle() {
    Trials.run(
        getClass().getSimpleName() + ".requestsAndReports",
        times(200),
        random -> {
          List<Algorithm> all = Algorithm.rates();
          Policy policy = policy(all.get(random.nextInt(all.size())), random.nextLong(0, 12));
          List<Step> steps = new ArrayList<>();
          long now = START;
          for (int i = 0; i < 80; i++) {
            now += random.nextInt(3) == 0 ? grid(random.nextLong(SECOND)) : 0;
            steps.add(step(random, now));
          }
          return new Trial<>(policy.toString(), steps, some -> assertAgrees(policy, some));
        });
  }

  private static Step step(SplittableRandom random, long now) {
    boolean report = random.nextBoolean();
    return new Step(now, random.nextLong(0, report ? 25 : 6), report);
  }

  private long onGrid(long nanos) {
    return nanos == Decision.NEVER ? nanos : grid(nanos + resolutionNanos() - 1);
  }

  private void assertAgrees(Policy policy, List<Step> steps) {
    Store store = store();
    Binding binding = store.bind("rule", policy, START);
    Oracle oracle = oracle(policy);
    for (Step step : steps) {
      Role role = step.report() ? Role.REPORTED : Role.REQUIRED;
      Charges charges = decide(store, report(binding, step.permits(), role), step.nowNanos());
      Oracle.Verdict right =
          step.report()
              ? oracle.report("k", step.nowNanos(), step.permits())
              : oracle.decide("k", step.nowNanos(), step.permits());
      assertThat(charges.allowed()).as("%s", step).isEqualTo(right.allowed());
      assertThat(charges.remaining(0)).as("remaining, %s", step).isEqualTo(right.remaining());
      // A shard may count finer than its store, by less than a step.
      assertThat(charges.retryAfterNanos(0))
          .as("retry-after, %s", step)
          .isCloseTo(right.retryAfterNanos(), within(resolutionNanos() - 1));
    }
  }
}
