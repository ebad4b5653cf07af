package dev.weir.rules.internal.parse;

import dev.weir.rules.DidYouMean;
import java.util.List;

/** The kinds of maps in a rule file, each with the keys that it may have. */
public enum Place {
  FILE("at the top of the file", "domain", "name", "plans", "descriptors"),
  DESCRIPTOR(
      "in a descriptor",
      "key",
      "value",
      "rate_limit",
      "shadow_mode",
      "quota_mode",
      "detailed_metric",
      "value_to_metric",
      "share_threshold",
      "metadata",
      "descriptors"),
  RATE_LIMIT(
      "in rate_limit",
      "unit",
      "requests_per_unit",
      "unlimited",
      "name",
      "replaces",
      "window",
      "unit_multiplier",
      "concurrency",
      "hold",
      "algorithm",
      "burst",
      "granularity",
      "throttle",
      "on_limit",
      "costs",
      "store",
      "consistency",
      "sync_interval",
      "on_failure",
      "local_share",
      "max_keys",
      "when_full",
      "by",
      "unknown"),
  REPLACES("in an entry of replaces", "name"),
  THROTTLE("in throttle", "soft", "elastic"),
  ON_LIMIT("in on_limit", "queue"),
  QUEUE("in the queue of on_limit", "requests", "wait"),
  PLAN_LIMIT("in a limit of plans", "requests_per_unit", "unlimited", "window", "burst");

  /** A key of an old example of the format that was copied widely. */
  static final String OLD_REQUESTS_PER_UNIT = "request_per_unit";

  /**
   * A key that the original takes at the top of a file, where it means nothing, and that no message
   * recommends. Envoy Gateway writes it.
   */
  private static final String NAME_OF_FILE = "name";

  private final String where;

  @SuppressWarnings("ImmutableEnumChecker") // List.of is immutable.
  private final List<String> keys;

  Place(String where, String... keys) {
    this.where = where;
    this.keys = List.of(keys);
  }

  public List<String> keys() {
    return keys;
  }

  /** Returns the problem of a key that this place does not have. */
  String refuse(String key) {
    String shown = Words.shown(key);
    for (Place other : values()) {
      if (other.isMeant(this) && other.recommended().contains(key)) {
        return shown + ": stands " + where + " (expected: " + other.where + ")";
      }
    }
    return "%s: unknown key %s%s (expected: %s)"
        .formatted(
            shown, where, DidYouMean.of(key, recommended()), String.join(", ", recommended()));
  }

  private List<String> recommended() {
    return this == FILE ? keys.stream().filter(key -> !key.equals(NAME_OF_FILE)).toList() : keys;
  }

  /** Returns whether a key of this place that is elsewhere is probably meant for it. */
  private boolean isMeant(Place elsewhere) {
    // Both have keys with everyday names: elsewhere these are mostly misspelled forms of other
    // keys.
    return this != REPLACES && (this != QUEUE || elsewhere == ON_LIMIT);
  }
}
