package dev.weir.replay;

import dev.weir.Policy;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Rule;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a report shows beyond the summary: everything over time, and how keys use their windows. */
final class History {
  /** Intervals of a chart: two minutes each of a day. */
  private static final int INTERVALS = 720;

  private static final int SMALL_INTERVALS = 120;

  /** Refused keys with a timeline. Whoever has a larger share of all refusals is among them. */
  private static final int REFUSED_KEYS = 1024;

  private final Timeline requests = new Timeline(INTERVALS);
  private final CloseUp closeUp = new CloseUp();
  private final Map<Rule, Timeline> rules = new HashMap<>();
  private final FrequentKeys refused = new FrequentKeys(REFUSED_KEYS);
  private final Map<RuleKey, Timeline> refusedKeys = new HashMap<>();
  private final WindowUse use = new WindowUse();

  /** Takes a request's answer. */
  void add(long nowNanos, boolean allowed) {
    requests.add(nowNanos, 1, !allowed);
    closeUp.add(nowNanos, !allowed);
  }

  /**
   * Takes what a rule found about one of a request's descriptors.
   *
   * @param fits whether there was room
   * @param allowed whether the request as a whole may pass
   * @param refusing whether it may not because of this one
   */
  void add(
      RuleKey key,
      Descriptor descriptor,
      long nowNanos,
      boolean fits,
      boolean allowed,
      boolean refusing) {
    Policy policy = key.rule().policy();
    long permits =
        Math.min(KeyUse.MAX_PERMITS, Objects.requireNonNullElse(descriptor.permits(), 1L));
    if (policy == null || permits == 0) {
      return;
    }
    Timeline timeline = rules.get(key.rule());
    if (timeline == null) {
      timeline = new Timeline(INTERVALS);
      rules.put(key.rule(), timeline);
    }
    timeline.add(nowNanos, permits, !fits);
    use.add(key, policy.quota(), nowNanos, permits, fits, fits && allowed);
    refused(key, nowNanos, permits, refusing);
  }

  private void refused(RuleKey key, long nowNanos, long permits, boolean denied) {
    if (denied) {
      RuleKey forgotten = refused.add(key);
      if (forgotten != null) {
        refusedKeys.remove(forgotten);
      }
      refusedKeys.computeIfAbsent(key, k -> new Timeline(SMALL_INTERVALS));
    }
    Timeline timeline = refusedKeys.isEmpty() ? null : refusedKeys.get(key);
    if (timeline != null) {
      timeline.add(nowNanos, permits, denied);
    }
  }

  /** Returns all requests over time. */
  Timeline requests() {
    return requests;
  }

  /** Returns the worst of it. */
  CloseUp closeUp() {
    return closeUp;
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
