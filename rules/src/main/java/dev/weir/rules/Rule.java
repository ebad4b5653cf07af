package dev.weir.rules;

import dev.weir.Policy;
import dev.weir.identity.AddressRanges;
import dev.weir.rules.internal.parse.Level;
import dev.weir.rules.internal.parse.RuleDraft;
import dev.weir.rules.internal.parse.Wildcard;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node of the rule tree. Immutable and safe to share. Two rules are equal only if they are the
 * same object: identity distinguishes the rules of two sets.
 */
public final class Rule {
  private final Position position;
  private final String domain;
  private final String path;
  private final String key;
  private final String value;
  private final String[] keys;
  private final String[] patterns;
  private final boolean[] shared;
  private final boolean[] valueToMetric;
  private final boolean limits;
  private final boolean unlimited;
  private final boolean shadowMode;
  private final boolean quotaMode;
  private final boolean detailedMetric;
  private final String name;
  private final List<String> replaces;
  private final @Nullable Policy policy;
  private final StoreChoice store;
  private final @Nullable RateLimitUnit unit;
  private final long requestsPerUnit;
  private final int unitMultiplier;
  private final @Nullable QueueBounds queue;
  private final CostMode costs;
  private final int byLevel;
  private final UnknownSubject unknown;
  private final Map<String, Object> metadata;
  private final Level children;

  public Rule(RuleDraft draft) {
    position = draft.position;
    domain = draft.domain;
    path = draft.path;
    key = draft.key;
    value = draft.value;
    keys = draft.keys;
    patterns = draft.patterns;
    shared = draft.shared.clone();
    valueToMetric = draft.valueToMetric.clone();
    limits = draft.limits;
    unlimited = draft.unlimited;
    shadowMode = draft.shadowMode;
    quotaMode = draft.quotaMode;
    detailedMetric = draft.detailedMetric;
    name = draft.name;
    replaces = List.copyOf(draft.replaces);
    policy = draft.policy;
    store = draft.store;
    unit = draft.unit;
    requestsPerUnit = draft.requestsPerUnit;
    unitMultiplier = draft.unitMultiplier;
    queue = draft.queue;
    costs = draft.costs;
    byLevel = draft.byLevel;
    unknown = draft.unknown;
    metadata = draft.metadata;
    children = draft.children;
  }

  public String domain() {
    return domain;
  }

  /**
   * Returns the domain, then key or key_value per level, joined by dots: {@code foo.k1_v1.k2}. No
   * two rules with a limit have the same path in one set.
   */
  public String path() {
    return path;
  }

  /** Returns the key of the last level. */
  public String key() {
    return key;
  }

  /** Returns the number of levels, which is the number of entries that a request must have. */
  public int levels() {
    return patterns.length;
  }

  /**
   * Returns the policy, named {@link #name()} if that is set and {@link #path()} otherwise, or null
   * if there is no rate_limit or it is unlimited.
   */
  public @Nullable Policy policy() {
    return policy;
  }

  /**
   * Returns the store that counts; the default one if the rule does not set one or has no policy.
   */
  public StoreChoice store() {
    return store;
  }

  /** Returns whether the rule has a rate_limit with {@code unlimited: true}. */
  public boolean unlimited() {
    return unlimited;
  }

  public boolean shadowMode() {
    return shadowMode;
  }

  public boolean quotaMode() {
    return quotaMode;
  }

  public boolean detailedMetric() {
    return detailedMetric;
  }

  /** Returns whether the value of the last level belongs in the metric's label. */
  public boolean valueToMetric() {
    return valueToMetric[valueToMetric.length - 1];
  }

  /** Returns whether the value of that level, 0 being the first, belongs in the metric's label. */
  public boolean valueToMetricAt(int level) {
    return valueToMetric[level];
  }

  /** Returns the name of the rate_limit, or the empty text. */
  public String name() {
    return name;
  }

  /** Returns the names of the rules that this one replaces if both match. */
  public List<String> replaces() {
    return replaces;
  }

  /** Returns the unit, or null if the rule has a {@code window} or no limit. */
  public @Nullable RateLimitUnit unit() {
    return unit;
  }

  /** Returns the permits per window, 0 to 4294967295. */
  public long requestsPerUnit() {
    return requestsPerUnit;
  }

  /** Returns how many units the window has, 1 if the rule does not set it. */
  public int unitMultiplier() {
    return unitMultiplier;
  }

  /** Returns how requests beyond the limit may wait, or null if they are refused at once. */
  public @Nullable QueueBounds queue() {
    return queue;
  }

  /** Returns how the rule takes the costs of requests. */
  public CostMode costs() {
    return costs;
  }

  /**
   * Returns the level whose value names the subject that has limits of its own or a plan, 0 being
   * the first; -1 if the rule has the same numbers for all.
   */
  public int byLevel() {
    return byLevel;
  }

  /** Returns what happens while the limits of a request's subject are not known. */
  public UnknownSubject unknown() {
    return unknown;
  }

  /**
   * Returns the notes of the rule's author: text, numbers (Long, Double, BigInteger), booleans,
   * nulls, lists and maps, all immutable. They decide nothing.
   */
  public Map<String, Object> metadata() {
    return metadata;
  }

  /** Returns whether all values that match at that level, 0 being the first, share one counter. */
  public boolean sharedAt(int level) {
    return shared[level];
  }

  /** Returns the key at that level, 0 being the first. */
  public String keyAt(int level) {
    return keys[level];
  }

  /**
   * Returns whether all values that match at that level, 0 being the first, have one counter: the
   * rule names the one value, or they share it. {@link #patternAt} then stands for all of them.
   */
  public boolean oneCounterAt(int level) {
    String pattern = patterns[level];
    return shared[level]
        || (!pattern.isEmpty() && !Wildcard.isPattern(pattern) && !AddressRanges.isRange(pattern));
  }

  /** Returns the value or pattern at that level, 0 being the first; empty for a bare key. */
  public String patternAt(int level) {
    return patterns[level];
  }

  /** Returns the position of the descriptor. */
  public Position position() {
    return position;
  }

  /** Returns the value or pattern of the last level; empty for a bare key. */
  public String value() {
    return value;
  }

  /** Returns whether the rule has a rate_limit, even an unlimited one. */
  boolean limits() {
    return limits;
  }

  public Level children() {
    return children;
  }

  /** Returns the path. */
  @Override
  public String toString() {
    return path;
  }
}
