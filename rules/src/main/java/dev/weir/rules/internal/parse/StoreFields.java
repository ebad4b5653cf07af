package dev.weir.rules.internal.parse;

import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.Sharing;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.StoreChoice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a {@code rate_limit} about its store: the choice of it, and the policy's behavior
 * there.
 */
record StoreFields(StoreChoice store, Sharing sharing) {

  /** The local share of a policy that has none. */
  private static final double WHOLE = 1;

  /** The shortest sync interval that a policy allows. */
  private static final long MIN_SYNC_NANOS = 1_000_000L;

  private static final String SHARE_EXPECTED = "above 0% and at most 100%, for example 25% or 0.25";

  /**
   * Reads the fields, and reports those that are wrong or contradict each other; each key at most
   * once.
   *
   * @param windowNanos the rule's window, or the longest if that is wrong itself
   */
  static StoreFields read(Fields fields, long windowNanos, RuleDefaults defaults) {
    StoreChoice store =
        fields.choice("store", StoreChoice.NAMED, StoreChoice.ALIASES, StoreChoice.DEFAULT);
    Consistency consistency =
        fields.choice("consistency", List.of(Consistency.values()), Consistency.STRICT);
    FailureMode said = fields.choice("on_failure", List.of(FailureMode.values()), FailureMode.DENY);
    // A mistake is one whatever the defaults are: a file must not be good for one server only.
    FailureMode onFailure =
        said != null && fields.has("on_failure")
            ? said
            : defaults.onFailure(store == null ? StoreChoice.DEFAULT : store);
    if (store == StoreChoice.LOCAL) {
      refuseBesideLocal(fields, consistency, said);
      boolean leased = consistency == Consistency.LEASED;
      long interval = leased ? syncInterval(fields, consistency, windowNanos) : 0;
      Consistency held = leased ? Consistency.LEASED : Consistency.STRICT;
      return new StoreFields(store, new Sharing(held, interval, onFailure, WHOLE));
    }
    double share = localShare(fields, said);
    double chosen = onFailure == FailureMode.LOCAL && share == 0 ? defaults.localShare() : share;
    return new StoreFields(
        store == null ? StoreChoice.DEFAULT : store,
        new Sharing(
            consistency == null ? Consistency.STRICT : consistency,
            syncInterval(fields, consistency, windowNanos),
            onFailure,
            chosen == 0 ? WHOLE : chosen));
  }

  /**
   * Refuses fields beside a local store: it is exact, even if clients have leases, and it has no
   * failures of its own.
   */
  private static void refuseBesideLocal(
      Fields fields, @Nullable Consistency consistency, @Nullable FailureMode onFailure) {
    if (consistency == Consistency.APPROXIMATE) {
      fields.error("consistency", "strict or leased with store: local");
    }
    if (onFailure == FailureMode.LOCAL) {
      fields.error("on_failure", "deny or allow with store: local");
    }
    if (consistency != Consistency.LEASED && fields.has("sync_interval")) {
      fields.error("sync_interval", "none with store: local, but for consistency: leased");
    }
    if (fields.has("local_share")) {
      fields.error("local_share", "none with store: local");
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
  private static double localShare(Fields fields, @Nullable FailureMode onFailure) {
    if (!fields.has("local_share")) {
      if (onFailure == FailureMode.LOCAL) {
        fields.error("local_share", SHARE_EXPECTED + ", beside on_failure: local");
      }
      return 0;
    }
    if (onFailure == FailureMode.DENY || onFailure == FailureMode.ALLOW) {
      fields.error("local_share", "none without on_failure: local");
      return 0;
    }
    return fields.share("local_share", SHARE_EXPECTED);
  }
}
