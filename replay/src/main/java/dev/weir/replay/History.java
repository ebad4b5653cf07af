package dev.weir.replay;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Code;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a report shows beyond the summary: everything over time, and how keys use their windows. */
final class History {
  /** Intervals of a chart: about as many as it has pixels on a phone. */
  private static final int INTERVALS = 480;

  private static final int SMALL_INTERVALS = 120;

  /** Refused keys with a timeline. Whoever has a larger share of all refusals is among them. */
  private static final int REFUSED_KEYS = 1024;

  private final Timeline requests = new Timeline(INTERVALS);
  private final Map<Rule, Timeline> rules = new HashMap<>();
  private final FrequentKeys refused = new FrequentKeys(REFUSED_KEYS);
  private final Map<RuleKey, Timeline> refusedKeys = new HashMap<>();
  private final WindowUse use = new WindowUse();

  /** Takes an answer; see {@link Tally#add}. */
  void add(Request request, Answer answer, @Nullable Status deciding, long nowNanos) {
    requests.add(nowNanos, 1, !answer.allowed());
    List<Status> statuses = answer.statuses();
    int refusing = answer.allowed() || deciding == null ? -1 : statuses.indexOf(deciding);
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      Rule rule = status.rule();
      Decision decision = status.decision();
      Descriptor descriptor = request.descriptors().get(i);
      long permits =
          Math.min(KeyUse.MAX_PERMITS, descriptor.permits() == null ? 1 : descriptor.permits());
      Policy policy = rule == null ? null : rule.policy();
      if (rule != null && decision != null && policy != null && permits > 0) {
        boolean fits = status.code() == Code.OK && decision.reason() != Reason.SHADOW;
        RuleKey key = RuleKey.of(rule, descriptor);
        rules.computeIfAbsent(rule, r -> new Timeline(INTERVALS)).add(nowNanos, permits, !fits);
        use.add(
            key,
            policy.quota().permits(),
            policy.quota().windowNanos(),
            nowNanos,
            permits,
            fits,
            fits && answer.allowed());
        refused(key, nowNanos, permits, i == refusing);
      }
    }
  }

  private void refused(RuleKey key, long nowNanos, long permits, boolean denied) {
    if (denied) {
      RuleKey forgotten = refused.add(key);
      if (forgotten != null) {
        refusedKeys.remove(forgotten);
      }
      refusedKeys.computeIfAbsent(key, k -> new Timeline(SMALL_INTERVALS));
    }
    Timeline timeline = refusedKeys.get(key);
    if (timeline != null) {
      timeline.add(nowNanos, permits, denied);
    }
  }

  /** Returns all requests over time. */
  Timeline requests() {
    return requests;
  }

  /** Returns the permits that a rule was asked for over time, or null if there were none. */
  @Nullable Timeline rule(String path) {
    for (Map.Entry<Rule, Timeline> each : rules.entrySet()) {
      if (each.getKey().path().equals(path)) {
        return each.getValue();
      }
    }
    return null;
  }

  /**
   * Returns what a refused key asked for, from its first refusal on, or null if it is not known.
   */
  @Nullable Timeline refusedKey(String policy, String key) {
    for (Map.Entry<RuleKey, Timeline> each : refusedKeys.entrySet()) {
      Policy of = each.getKey().rule().policy();
      if (each.getKey().key().equals(key) && of != null && of.name().equals(policy)) {
        return each.getValue();
      }
    }
    return null;
  }

  Map<String, WindowUse.RuleUse> use() {
    return use.byRule();
  }
}
