package dev.weir.replay.internal.judge;

import dev.weir.Algorithm;
import dev.weir.replay.ReplayOptions;
import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.ShownText;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.TrafficException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The doubts about rules and traffic together: each may be right, and still they do not fit. */
public final class Warnings {
  /** The most rules without a record that are listed; more are only counted. */
  private static final int LISTED = 10;

  private Warnings() {}

  /**
   * Returns one line for each doubt.
   *
   * @param matched for each position of a descriptor, the number of requests to which a limit
   *     applied by it
   * @param noDurations the reason why the traffic does not show how long requests took
   */
  public static List<String> of(
      ReplaySummary summary,
      RuleSet rules,
      ReplayOptions options,
      long[] matched,
      String noDurations)
      throws TrafficException {
    List<String> doubts = new ArrayList<>();
    Counts counts = summary.counts();
    if (counts.requests() == 0) {
      doubts.add("input: no record was read, so no rule was tried");
      return doubts;
    }
    List<List<String>> keys =
        RequestTemplate.of("", options.traffic().descriptors(), options.traffic().permits()).keys();
    Set<String> known = new LinkedHashSet<>();
    for (Rule rule : rules.rules()) {
      if (rule.domain().equals(options.domain())) {
        known.addAll(keys(rule));
      }
    }
    for (int i = 0; i < keys.size(); i++) {
      if (i >= matched.length || matched[i] == 0) {
        doubts.add(
            "descriptor "
                + options.traffic().descriptors().get(i)
                + ": no rule of domain "
                + ShownText.quoted(options.domain())
                + " limits it"
                + meant(keys.get(i), known));
      }
    }
    Set<String> asked = new LinkedHashSet<>();
    keys.forEach(asked::addAll);
    unreached(summary, rules, options, asked, doubts);
    Long first = counts.firstNanos();
    Long last = counts.lastNanos();
    if (first != null && last != null) {
      for (PolicyCount each : summary.policies()) {
        if (each.requests() > 0 && !isTimed(each, summary)) {
          window("rule " + name(each), each.windowNanos(), last - first, doubts);
        }
      }
    }
    if (summary.source().durations() == null) {
      seats(summary, noDurations, doubts);
    }
    return doubts;
  }

  private static boolean hasSeats(PolicyCount policy) {
    return policy.algorithm().equals(Algorithm.CONCURRENCY.text());
  }

  /** Returns whether permits of a rule count until requests have ended, and not for its hold. */
  private static boolean isTimed(PolicyCount policy, ReplaySummary summary) {
    return hasSeats(policy) && summary.source().durations() != null;
  }

  /** Adds a doubt for each limit at the same time, if it is not known when requests have ended. */
  private static void seats(ReplaySummary summary, String noDurations, List<String> doubts) {
    for (PolicyCount each : summary.policies()) {
      if (hasSeats(each) && each.requests() > 0) {
        doubts.add(
            "rule "
                + name(each)
                + ": each request counts for the hold of "
                + Figures.window(each.windowNanos())
                + ", whether it was shorter or longer; "
                + noDurations);
      }
    }
  }

  private static void unreached(
      ReplaySummary summary,
      RuleSet rules,
      ReplayOptions options,
      Set<String> asked,
      List<String> doubts) {
    int unreached = 0;
    for (PolicyCount each : summary.policies()) {
      if (each.requests() == 0 && unreached++ < LISTED) {
        List<String> levels = new ArrayList<>();
        for (Rule rule : rules.rules()) {
          if (rule.path().equals(each.path()) && rule.domain().equals(options.domain())) {
            levels.addAll(keys(rule));
          }
        }
        doubts.add("rule " + name(each) + ": no record reached it" + meant(levels, asked));
      }
    }
    if (unreached > LISTED) {
      doubts.add("rules: no record reached " + (unreached - LISTED) + " more");
    }
  }

  private static List<String> keys(Rule rule) {
    List<String> keys = new ArrayList<>();
    for (int level = 0; level < rule.levels(); level++) {
      keys.add(rule.keyAt(level));
    }
    return keys;
  }

  private static String name(PolicyCount policy) {
    return policy.policy().equals(policy.path())
        ? Figures.plain(policy.policy())
        : Figures.plain(policy.policy()) + " (" + Figures.plain(policy.path()) + ")";
  }

  /** Adds a doubt if the window is longer than all of the traffic. */
  static void window(String what, long windowNanos, long spanNanos, List<String> doubts) {
    if (windowNanos > spanNanos) {
      doubts.add(
          what
              + ": its window of "
              + Figures.window(windowNanos)
              + " is longer than the traffic, "
              + span(spanNanos)
              + "; what it would refuse later cannot be seen");
    }
  }

  private static String span(long nanos) {
    long minutes = nanos / 60_000_000_000L;
    if (minutes == 0) {
      return Figures.length(nanos);
    }
    long seconds = nanos / 1_000_000_000L % 60;
    return minutes < 60
        ? minutes + " min " + seconds + " s"
        : minutes / 60 + " h " + minutes % 60 + " min";
  }

  /** Returns the known key that is probably meant by the first unknown one. */
  private static String meant(List<String> keys, Set<String> known) {
    for (String key : keys) {
      if (!known.contains(key)) {
        return DidYouMean.of(key, known);
      }
    }
    return "";
  }
}
