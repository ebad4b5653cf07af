package dev.weir.replay.internal.judge;

import dev.weir.Policy;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.SeatCount;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The seats of limits at the same time over a run: how many were out, how many would have been out
 * without a limit, and for how long a limit was reached. Memory is bounded by the requests in
 * flight ({@link RunSeats#MOST_IN_FLIGHT}). Time never goes back. For one thread.
 */
public final class SeatTally {
  /** The seats of a rule, over all of its keys. */
  private static final class RuleSeats {
    private long mostOut;
    private long mostWanted;
    private long cutShort;
    private long keysAtLimit;
    private long atLimitSinceNanos;
    private long atLimitNanos;
  }

  /** The seats of a key. */
  private static final class KeySeats {
    private long out;
    private long wanted;
  }

  private final Map<Rule, RuleSeats> rules = new LinkedHashMap<>();
  private final Map<RuleKey, KeySeats> keys = new HashMap<>();

  /**
   * Changes the seats that requests of a key would have without a limit.
   *
   * @param permits the change; negative if a request has ended
   */
  void wanted(RuleKey key, long permits) {
    RuleSeats rule = rules.computeIfAbsent(key.rule(), unseen -> new RuleSeats());
    KeySeats seats = keys.computeIfAbsent(key, unseen -> new KeySeats());
    seats.wanted += permits;
    rule.mostWanted = Math.max(rule.mostWanted, seats.wanted);
    forget(key, seats);
  }

  /**
   * Changes the seats that are out of a key.
   *
   * @param permits the change; negative if they are given back
   * @param limit the most that may be out
   */
  void out(RuleKey key, long permits, long limit, long nowNanos) {
    RuleSeats rule = rules.computeIfAbsent(key.rule(), unseen -> new RuleSeats());
    KeySeats seats = keys.computeIfAbsent(key, unseen -> new KeySeats());
    boolean before = seats.out > 0 && seats.out >= limit;
    seats.out += permits;
    boolean after = seats.out > 0 && seats.out >= limit;
    rule.mostOut = Math.max(rule.mostOut, seats.out);
    if (before != after) {
      if (rule.keysAtLimit > 0) {
        rule.atLimitNanos += nowNanos - rule.atLimitSinceNanos;
      }
      rule.atLimitSinceNanos = nowNanos;
      rule.keysAtLimit += after ? 1 : -1;
    }
    forget(key, seats);
  }

  /** Counts a request that took longer than a seat is kept. */
  void cutShort(Rule rule) {
    rules.computeIfAbsent(rule, unseen -> new RuleSeats()).cutShort++;
  }

  private void forget(RuleKey key, KeySeats seats) {
    if (seats.out == 0 && seats.wanted == 0) {
      keys.remove(key);
    }
  }

  /**
   * Returns the counts of each rule whose seats were followed.
   *
   * @param policies the counts of all rules
   */
  public List<SeatCount> counts(List<PolicyCount> policies) {
    List<SeatCount> counts = new ArrayList<>();
    rules.forEach(
        (rule, seats) -> {
          Policy policy = rule.policy();
          for (PolicyCount each : policies) {
            if (policy != null && each.path().equals(rule.path())) {
              counts.add(
                  new SeatCount(
                      policy.name(),
                      rule.path(),
                      each.permits(),
                      each.windowNanos(),
                      each.denied() + each.shadowDenied(),
                      seats.mostOut,
                      seats.mostWanted,
                      seats.atLimitNanos,
                      seats.cutShort));
            }
          }
        });
    return counts;
  }
}
