package dev.weir.rules;

import java.util.List;

/** The maps of a rule file, and the keys that each may have. */
enum Place {
  FILE("at the top of the file", "domain", "descriptors"),
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
      "algorithm",
      "burst",
      "granularity",
      "throttle",
      "store",
      "consistency",
      "sync_interval",
      "on_failure",
      "local_share",
      "max_keys",
      "when_full"),
  REPLACES("in an entry of replaces", "name"),
  THROTTLE("in throttle", "soft", "elastic");

  /** An old example of the format has it, and it was copied widely. */
  static final String OLD_REQUESTS_PER_UNIT = "request_per_unit";

  private final String where;

  @SuppressWarnings("ImmutableEnumChecker") // List.of is immutable.
  private final List<String> keys;

  Place(String where, String... keys) {
    this.where = where;
    this.keys = List.of(keys);
  }

  List<String> keys() {
    return keys;
  }

  /** Returns what is wrong with a key that this place does not have. */
  String refuse(String key) {
    String shown = Words.shown(key);
    for (Place other : values()) {
      // The keys of an entry of replaces would only confuse: name stands in rate_limit too.
      if (other != REPLACES && other.keys.contains(key)) {
        return shown + ": stands " + where + " (expected: " + other.where + ")";
      }
    }
    return "%s: unknown key %s%s (expected: %s)"
        .formatted(shown, where, Suggestion.of(key, keys), String.join(", ", keys));
  }
}
