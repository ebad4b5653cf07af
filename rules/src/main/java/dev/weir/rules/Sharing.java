package dev.weir.rules;

import dev.weir.Consistency;
import dev.weir.FailureAnswer;
import dev.weir.Policy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code rate_limit} says about its store: where it is, how closely those who share it keep
 * together, and what is answered when it cannot know.
 *
 * @param syncIntervalNanos 0 where the rule does not say
 * @param localShare 0 where there is none
 */
record Sharing(
    StoreChoice store,
    Consistency consistency,
    long syncIntervalNanos,
    FailureAnswer onFailure,
    double localShare) {

  /** As short as a policy allows. */
  private static final long MIN_SYNC_NANOS = 1_000_000L;

  private static final String SHARE_EXPECTED = "above 0% and at most 100%, for example 25% or 0.25";

  /**
   * Reads it, and reports what is wrong or contradicts itself; each key at most once.
   *
   * @param windowNanos the rule's window, or the longest if that is wrong itself
   */
  static Sharing read(Fields fields, long windowNanos, RuleDefaults defaults) {
    StoreChoice store = fields.choice("store", StoreChoice.NAMED, StoreChoice.DEFAULT);
    Consistency consistency =
        fields.choice("consistency", List.of(Consistency.values()), Consistency.STRICT);
    FailureAnswer said =
        fields.choice("on_failure", List.of(FailureAnswer.values()), FailureAnswer.DENY);
    // What is wrong is so whatever the defaults are: a file must not be good for one server only.
    FailureAnswer onFailure =
        said != null && fields.has("on_failure")
            ? said
            : defaults.onFailure(store == null ? StoreChoice.DEFAULT : store);
    if (store == StoreChoice.LOCAL) {
      refuseBesideLocal(fields, consistency, said);
      return new Sharing(store, Consistency.STRICT, 0, onFailure, 0);
    }
    double share = localShare(fields, said);
    return new Sharing(
        store == null ? StoreChoice.DEFAULT : store,
        consistency == null ? Consistency.STRICT : consistency,
        syncInterval(fields, consistency, windowNanos),
        onFailure,
        onFailure == FailureAnswer.LOCAL && share == 0 ? defaults.localShare() : share);
  }

  /** A store that nobody shares is exact, and has no other to turn to. */
  private static void refuseBesideLocal(
      Fields fields, @Nullable Consistency consistency, @Nullable FailureAnswer onFailure) {
    if (consistency == Consistency.LEASED || consistency == Consistency.APPROXIMATE) {
      fields.error("consistency", "strict with store: local");
    }
    if (onFailure == FailureAnswer.LOCAL) {
      fields.error("on_failure", "deny or allow with store: local");
    }
    for (String key : List.of("sync_interval", "local_share")) {
      if (fields.has(key)) {
        fields.error(key, "none with store: local");
      }
    }
  }

  /** Returns the interval in nanoseconds, or 0 if there is none or it is wrong. */
  private static long syncInterval(
      Fields fields, @Nullable Consistency consistency, long windowNanos) {
    if (!fields.has("sync_interval")) {
      return 0;
    }
    if (consistency == Consistency.STRICT) {
      fields.error(
          "sync_interval", "none with consistency: strict, only leased and approximate have one");
      return 0;
    }
    return fields.duration("sync_interval", MIN_SYNC_NANOS, windowNanos);
  }

  /** Returns the share, or 0 if there is none or it is wrong. */
  private static double localShare(Fields fields, @Nullable FailureAnswer onFailure) {
    if (!fields.has("local_share")) {
      if (onFailure == FailureAnswer.LOCAL) {
        fields.error("local_share", SHARE_EXPECTED + ", beside on_failure: local");
      }
      return 0;
    }
    if (onFailure == FailureAnswer.DENY || onFailure == FailureAnswer.ALLOW) {
      fields.error("local_share", "none without on_failure: local");
      return 0;
    }
    return fields.share("local_share", SHARE_EXPECTED);
  }

  void addTo(Policy.Builder policy) {
    policy.onFailure(onFailure).consistency(consistency);
    if (localShare > 0) {
      policy.localShare(localShare);
    }
    if (syncIntervalNanos > 0) {
      policy.syncInterval(Duration.ofNanos(syncIntervalNanos));
    }
  }
}
