package dev.weir.replay;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.QueueCount;
import dev.weir.replay.internal.judge.WaitTimes;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The sums of a {@link ReplayTally} for each rule and for each queue. */
final class RuleTallies {
  private static final class PolicyTally {
    private long requests;
    private long denied;
    private long shadowDenied;
    private long tolerated;
  }

  private static final class QueueTally {
    private final WaitTimes served = new WaitTimes();
    private long gaveUp;
    private long refusedAtOnce;
  }

  private final Map<Rule, PolicyTally> policies = new LinkedHashMap<>();
  private final Map<Rule, QueueTally> queues = new LinkedHashMap<>();

  /**
   * @param which the rules that are listed even if they decide nothing
   */
  RuleTallies(RuleSet rules, Predicate<Rule> which) {
    for (Rule rule : rules.rules()) {
      if (rule.policy() != null && which.test(rule)) {
        policies.put(rule, new PolicyTally());
        if (rule.queue() != null) {
          queues.put(rule, new QueueTally());
        }
      }
    }
  }

  /**
   * Counts a decision of a rule.
   *
   * @param fits true if it did not refuse
   * @param allowed true if the whole request was allowed
   */
  void judged(Rule rule, Reason reason, boolean fits, boolean allowed) {
    PolicyTally tally = policies.computeIfAbsent(rule, unused -> new PolicyTally());
    tally.requests++;
    tally.denied += fits ? 0 : 1;
    tally.shadowDenied += reason == Reason.SHADOW ? 1 : 0;
    tally.tolerated += allowed && reason == Reason.TOLERATED ? 1 : 0;
  }

  /**
   * Counts the end of a wait.
   *
   * @param refused the answer that made the request wait
   * @param allowed true if it was admitted then
   */
  void waited(Answer refused, boolean allowed, ReplayTally.Wait wait) {
    QueueTally queue = queues.get(slowest(refused));
    if (queue == null) {
      return; // Every status that lets a request wait has a rule with a queue.
    }
    if (allowed) {
      queue.served.add(wait.answeredNanos() - wait.sinceNanos());
    } else {
      queue.gaveUp += wait.stood() ? 1 : 0;
      queue.refusedAtOnce += wait.stood() ? 0 : 1;
    }
  }

  /** Returns the rule for which a request has to wait longest; of equals, the first. */
  private static @Nullable Rule slowest(Answer refused) {
    Rule slowest = null;
    long longest = -1;
    for (Status status : refused.refusing()) {
      Decision decision = status.decision();
      if (decision != null && decision.retryAfterNanos() > longest) {
        longest = decision.retryAfterNanos();
        slowest = status.rule();
      }
    }
    return slowest;
  }

  /** Returns the sums of each rule. */
  List<PolicyCount> policyCounts() {
    List<PolicyCount> counts = new ArrayList<>();
    policies.forEach(
        (rule, tally) -> {
          Policy policy = rule.policy();
          if (policy != null) {
            counts.add(
                new PolicyCount(
                    policy.name(),
                    rule.path(),
                    policy.algorithm().text(),
                    policy.quota().permits(),
                    policy.quota().windowNanos(),
                    tally.requests,
                    tally.denied,
                    tally.shadowDenied,
                    policy.throttle(),
                    policy.enforced().quota().permits(),
                    tally.tolerated));
          }
        });
    return counts;
  }

  /** Returns the sums of each queue. */
  List<QueueCount> queueCounts() {
    List<QueueCount> counts = new ArrayList<>();
    queues.forEach(
        (rule, tally) -> {
          Policy policy = rule.policy();
          QueueBounds bounds = rule.queue();
          if (policy != null && bounds != null) {
            counts.add(
                new QueueCount(
                    policy.name(),
                    rule.path(),
                    bounds.requests(),
                    bounds.waitNanos(),
                    tally.served.count(),
                    tally.served.atMostNanos(50),
                    tally.served.atMostNanos(99),
                    tally.served.longestNanos(),
                    tally.gaveUp,
                    tally.refusedAtOnce));
          }
        });
    return counts;
  }
}
