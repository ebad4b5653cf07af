package dev.weir.rules;

import dev.weir.Policy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the parser has found out about a {@link Rule} so far. Used by one thread. */
final class RuleDraft {
  final Position position;
  final String domain;

  /** Domain, then key or key_value per level. */
  final String path;

  final String key;

  /** The value or pattern of the last level; empty for a bare key. */
  final String value;

  /** The keys of all levels, the last one included. */
  final String[] keys;

  /** The values of all levels, the last one included. */
  final String[] patterns;

  final boolean[] shared;
  final boolean[] valueToMetric;

  boolean limits;
  boolean unlimited;
  boolean shadowMode;
  boolean quotaMode;
  boolean detailedMetric;
  String name = "";
  List<String> replaces = List.of();
  @Nullable Policy policy;
  StoreChoice store = StoreChoice.DEFAULT;
  @Nullable RateLimitUnit unit;
  long requestsPerUnit;
  int unitMultiplier = 1;
  @Nullable QueueBounds queue;
  int byLevel = SubjectFields.NONE;
  Unknown unknown = Unknown.WAIT;
  Map<String, Object> metadata = Map.of();
  Level children = Level.NONE;

  RuleDraft(Position position, String domain, String key, String value) {
    this(
        position,
        domain,
        domain,
        key,
        value,
        new String[0],
        new String[0],
        new boolean[0],
        new boolean[0]);
  }

  private RuleDraft(
      Position position,
      String domain,
      String parentPath,
      String key,
      String value,
      String[] parentKeys,
      String[] parentPatterns,
      boolean[] parentShared,
      boolean[] parentValueToMetric) {
    int level = parentPatterns.length;
    this.position = position;
    this.domain = domain;
    this.key = key;
    this.value = value;
    path = parentPath + "." + compositeKey(key, value);
    keys = Arrays.copyOf(parentKeys, level + 1);
    keys[level] = key;
    patterns = Arrays.copyOf(parentPatterns, level + 1);
    patterns[level] = value;
    shared = Arrays.copyOf(parentShared, level + 1);
    valueToMetric = Arrays.copyOf(parentValueToMetric, level + 1);
  }

  /** Returns the draft of a rule one level below this one. */
  RuleDraft child(Position position, String key, String value) {
    return new RuleDraft(position, domain, path, key, value, keys, patterns, shared, valueToMetric);
  }

  /** Returns the number of the last level, 0 being the first. */
  int level() {
    return patterns.length - 1;
  }

  /** Returns what siblings must not share: the key, or key_value. */
  static String compositeKey(String key, String value) {
    return value.isEmpty() ? key : key + "_" + value;
  }
}
