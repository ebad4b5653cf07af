package dev.weir.rules.internal.parse;

import dev.weir.Policy;
import dev.weir.rules.CostMode;
import dev.weir.rules.Position;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Rule;
import dev.weir.rules.StoreChoice;
import dev.weir.rules.UnknownSubject;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The properties of a {@link Rule} that the parser has found so far. Used by one thread. */
public final class RuleDraft {
  public final Position position;
  public final String domain;

  /** The domain, then key or key_value per level. */
  public final String path;

  public final String key;

  /** The value or pattern of the last level; empty for a bare key. */
  public final String value;

  /** The keys of all levels, including the last one. */
  public final String[] keys;

  /** The values of all levels, including the last one. */
  public final String[] patterns;

  public final boolean[] shared;
  public final boolean[] valueToMetric;

  public boolean limits;
  public boolean unlimited;
  public boolean shadowMode;
  public boolean quotaMode;
  public boolean detailedMetric;
  public String name = "";
  public List<String> replaces = List.of();
  @Nullable public Policy policy;
  public StoreChoice store = StoreChoice.DEFAULT;
  @Nullable public RateLimitUnit unit;
  public long requestsPerUnit;
  public int unitMultiplier = 1;
  @Nullable public QueueBounds queue;
  public CostMode costs = CostMode.BEFORE;
  public int byLevel = SubjectFields.NONE;
  public UnknownSubject unknown = UnknownSubject.WAIT;
  public Map<String, Object> metadata = Map.of();
  public Level children = Level.NONE;

  RuleDraft(Position position, String domain, String key, String value) {
    this.position = position;
    this.domain = domain;
    this.key = key;
    this.value = value;
    path = domain + "." + compositeKey(key, value);
    keys = new String[] {key};
    patterns = new String[] {value};
    shared = new boolean[1];
    valueToMetric = new boolean[1];
  }

  private RuleDraft(RuleDraft parent, Position position, String key, String value) {
    int level = parent.patterns.length;
    this.position = position;
    this.domain = parent.domain;
    this.key = key;
    this.value = value;
    path = parent.path + "." + compositeKey(key, value);
    keys = Arrays.copyOf(parent.keys, level + 1);
    keys[level] = key;
    patterns = Arrays.copyOf(parent.patterns, level + 1);
    patterns[level] = value;
    shared = Arrays.copyOf(parent.shared, level + 1);
    valueToMetric = Arrays.copyOf(parent.valueToMetric, level + 1);
  }

  /** Returns the draft of a rule one level below this one. */
  RuleDraft child(Position position, String key, String value) {
    return new RuleDraft(this, position, key, value);
  }

  /** Returns the number of the last level, 0 being the first. */
  int level() {
    return patterns.length - 1;
  }

  /** Returns the text that siblings must not share: the key, or key_value. */
  static String compositeKey(String key, String value) {
    return value.isEmpty() ? key : key + "_" + value;
  }
}
