package dev.weir.replay.internal.suggest;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.pages.Axis;
import dev.weir.replay.internal.suggest.LimitSearch.TriedLimit;
import dev.weir.rules.Rule;
import dev.weir.traffic.TrafficException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The effects that other limits of a rule would have had on the requests that reached it: by its
 * own algorithm, each limit replayed.
 */
public final class OtherLimits {
  /** The shares of keys that may be refused, for each of which a limit is searched. */
  private static final double[] SHARES = {0.01, 0.001, 0};

  /**
   * One of the limits.
   *
   * @param why the condition for which it is the smallest limit, or a note that it is today's
   */
  public record Candidate(String why, TriedLimit tried) {}

  private OtherLimits() {}

  /**
   * Returns today's limit and up to three others, by rising limit; empty if they cannot be found.
   */
  public static List<Candidate> of(Rule rule, Trace trace) {
    Policy policy = rule.policy();
    if (policy == null || rule.byLevel() >= 0 || rule.queue() != null) {
      return List.of();
    }
    Map<Long, Candidate> found = new LinkedHashMap<>();
    try {
      RefusalSearch search = search(policy, trace);
      long now = policy.quota().permits();
      add(found, "today", search.refused(now));
      for (double share : SHARES) {
        long most = (long) (share * trace.keys());
        TriedLimit tried = search.smallest(each -> each.keys() <= most);
        String why =
            share == 0
                ? "refuses no key"
                : "refuses at most " + Axis.value(100 * share) + " % of keys";
        add(found, why, tried);
      }
    } catch (TrafficException | LimitSearch.StoppedException e) {
      return List.of(); // No limit is high enough, or an interrupt has ended the search.
    }
    List<Candidate> sorted = new ArrayList<>(found.values());
    sorted.sort((a, b) -> Long.compare(a.tried().limit(), b.tried().limit()));
    return sorted;
  }

  private static RefusalSearch search(Policy policy, Trace trace)
      throws TrafficException, LimitSearch.StoppedException {
    return policy.algorithm() == Algorithm.CONCURRENCY
        ? SeatSearch.of(trace, Set.of())
        : new LimitSearch(trace, limit -> with(policy, limit), Set.of());
  }

  private static void add(Map<Long, Candidate> found, String why, TriedLimit tried) {
    found.merge(
        tried.limit(),
        new Candidate(why, tried),
        (before, same) -> new Candidate(before.why() + "; " + why, tried));
  }

  /**
   * Returns the policy with another limit; the rest stays, except for what it tolerates, which is
   * left out.
   */
  static Policy with(Policy policy, long limit) {
    Quota quota = new Quota(limit, policy.quota().windowNanos());
    Policy.Builder builder = Policy.builder(quota).algorithm(policy.algorithm());
    boolean bucket =
        policy.algorithm() == Algorithm.TOKEN_BUCKET
            || policy.algorithm() == Algorithm.LEAKY_BUCKET;
    if (bucket && policy.burst() != policy.quota().permits()) {
      builder.burst(policy.burst());
    }
    if (policy.algorithm().granular()) {
      builder.granularity(Duration.ofNanos(policy.granularityNanos()));
    }
    return builder.build();
  }
}
