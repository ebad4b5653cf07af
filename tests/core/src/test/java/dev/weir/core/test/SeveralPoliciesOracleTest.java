package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.GeneratedRequest;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Oracle.Verdict;
import dev.weir.testkit.Traffic;
import dev.weir.testkit.Trials;
import dev.weir.testkit.Trials.Trial;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Limiters of two and three policies by any algorithms decide as one oracle for each policy, all
 * charged or none, and no window holds more than the bound of its policy.
 */
class SeveralPoliciesOracleTest {
  private static final int REQUESTS = 300;

  @Tag("model")
  @Tag("sample")
  @Test
  void everyAnswer_agreesWithAnOracleForEachPolicy() {
    int runs = Trials.runs(700, 7_000);
    System.out.println("several policies: " + (long) runs * REQUESTS + " decisions");
    Trials.run(
        "several policies, oracles",
        runs,
        random -> {
          List<Policy> policies = policies(random);
          Policy paced = policies.get(random.nextInt(policies.size()));
          boolean packed = random.nextBoolean();
          return new Trial<>(
              (packed ? "packed, " : "") + policies,
              Traffic.of(random, paced, REQUESTS, 0),
              asks -> agree(policies, asks, packed));
        });
  }

  private static List<Policy> policies(SplittableRandom random) {
    List<Algorithm> all = Algorithm.rates();
    List<Policy> policies = new ArrayList<>();
    for (int count = random.nextInt(2, 4); policies.size() < count; ) {
      Policy any = Traffic.policy(random, all.get(random.nextInt(all.size())));
      policies.add(any.named("policy-" + policies.size()));
    }
    return policies;
  }

  private static void agree(List<Policy> policies, List<GeneratedRequest> asks, boolean packed) {
    FakeTicker ticker = new FakeTicker(asks.isEmpty() ? 0 : asks.get(0).nowNanos());
    Policy[] more = policies.subList(1, policies.size()).toArray(new Policy[0]);
    RateLimiter limiter = RateLimiter.builder(policies.get(0), more).ticker(ticker).build();
    List<Oracle> oracles = policies.stream().map(Oracle::of).toList();
    List<Operation> admitted = new ArrayList<>();
    for (GeneratedRequest ask : asks) {
      ticker.set(ask.nowNanos());
      List<Verdict> right = together(oracles, ask);
      boolean allowed = right.stream().allMatch(Verdict::allowed);
      long remaining = right.stream().mapToLong(Verdict::remaining).min().orElseThrow();
      long retry = right.stream().mapToLong(Verdict::retryAfterNanos).max().orElseThrow();
      if (packed) {
        long answer = limiter.packed().decide(ask.key(), ask.permits());
        assertThat(answer).as("%s", ask).isEqualTo(allowed ? remaining : -retry);
      } else {
        Decision answer = limiter.tryAcquire(ask.key(), ask.permits());
        assertThat(new Verdict(answer.allowed(), answer.remaining(), answer.retryAfterNanos()))
            .as("%s", ask)
            .isEqualTo(new Verdict(allowed, remaining, retry));
        assertThat(verdicts(answer)).as("%s", ask).isEqualTo(right);
      }
      if (allowed) {
        admitted.add(Operation.admitted(ask.key(), ask.permits(), ask.nowNanos()));
      }
    }
    for (Policy policy : policies) {
      assertThat(WindowChecker.maxInAnyWindow(admitted, policy.quota().windowNanos()))
          .as("%s", policy)
          .isLessThanOrEqualTo(Oracle.bound(policy));
    }
  }

  /** Returns the oracles' verdicts on one request, which charges all of them or none. */
  private static List<Verdict> together(List<Oracle> oracles, GeneratedRequest ask) {
    List<Verdict> verdicts = new ArrayList<>();
    for (Oracle oracle : oracles) {
      verdicts.add(oracle.peek(ask.key(), ask.nowNanos(), ask.permits()));
    }
    if (verdicts.stream().allMatch(Verdict::allowed)) {
      verdicts.clear();
      for (Oracle oracle : oracles) {
        verdicts.add(oracle.decide(ask.key(), ask.nowNanos(), ask.permits()));
      }
    }
    return verdicts;
  }

  private static List<Verdict> verdicts(Decision decision) {
    return decision.parts().stream()
        .map(each -> new Verdict(each.allowed(), each.remaining(), each.retryAfterNanos()))
        .toList();
  }
}
