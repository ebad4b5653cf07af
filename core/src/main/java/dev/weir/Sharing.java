package dev.weir;

import java.time.Duration;

/**
 * The options of a policy in a {@link Store} that several processes share: how closely they keep
 * together, and the answer while the store cannot be reached. They have no effect in this process's
 * own memory, which is always exact and always there. Immutable and safe to share.
 *
 * <pre>{@code
 * Policy.builder(Quota.perMinute(100))
 *     .name("api")
 *     .sharing(Sharing.STRICT.onFailure(FailureMode.LOCAL).localShare(0.25))
 * }</pre>
 *
 * @param consistency how closely processes keep together
 * @param syncIntervalNanos for how long a process acts on the store's last answer: the lifetime of
 *     an allotment of {@link Consistency#LEASED}, the time between syncs of {@link
 *     Consistency#APPROXIMATE}; 1 ms to the policy's window. 0 if none was chosen: then {@link
 *     Policy#sharing()} has a 20th of the window, at least 10 ms and at most 1 s
 * @param onFailure the answer while the store cannot decide
 * @param localShare the share of the quota, and of a bucket's burst, that each process admits by
 *     itself meanwhile if {@link FailureMode#LOCAL} applies; above 0 and at most 1
 */
public record Sharing(
    Consistency consistency, long syncIntervalNanos, FailureMode onFailure, double localShare) {

  /**
   * The options of a policy for which the store decides every request; while it is away, every
   * request is refused. The default.
   */
  public static final Sharing STRICT = new Sharing(Consistency.STRICT, 0, FailureMode.DENY, 1);

  /** The default number of syncs with a store per window. */
  private static final int SYNCS_PER_WINDOW = 20;

  private static final long LEAST_DEFAULT_SYNC_NANOS = 10_000_000L;
  private static final long MOST_DEFAULT_SYNC_NANOS = 1_000_000_000L;

  /** The shortest time between two syncs with a store. */
  private static final long MIN_SYNC_NANOS = 1_000_000L;

  /**
   * @throws NullPointerException if a value is null
   * @throws IllegalArgumentException if a number is out of its range
   */
  public Sharing {
    Check.notNull("consistency", consistency);
    Check.notNull("onFailure", onFailure);
    Check.range("syncIntervalNanos", syncIntervalNanos, 0, Long.MAX_VALUE);
    if (!(localShare > 0 && localShare <= 1)) {
      throw new IllegalArgumentException(
          "localShare: " + localShare + " (expected: above 0, at most 1)");
    }
  }

  /** Returns these options with another consistency. Default: {@link Consistency#STRICT}. */
  public Sharing consistency(Consistency consistency) {
    return new Sharing(consistency, syncIntervalNanos, onFailure, localShare);
  }

  /** Returns these options with a sync interval: 1 ms to the policy's window. */
  public Sharing syncInterval(Duration interval) {
    long nanos =
        Check.range("syncInterval", Check.nanos("syncInterval", interval), 1, Long.MAX_VALUE);
    return new Sharing(consistency, nanos, onFailure, localShare);
  }

  /**
   * Returns these options with another answer while the store cannot decide. Default: {@link
   * FailureMode#DENY}.
   */
  public Sharing onFailure(FailureMode answer) {
    return new Sharing(consistency, syncIntervalNanos, answer, localShare);
  }

  /**
   * Returns these options with the share of the quota, above 0 and at most 1, that each process
   * admits by itself if {@link FailureMode#LOCAL} applies. Default: 1, which is right for one
   * process.
   */
  public Sharing localShare(double share) {
    return new Sharing(consistency, syncIntervalNanos, onFailure, share);
  }

  /**
   * Returns these options with the sync interval that is in force for a window.
   *
   * @throws IllegalArgumentException if the interval is shorter than 1 ms or longer than the window
   */
  Sharing within(long windowNanos) {
    if (syncIntervalNanos == 0) {
      long part = Math.max(windowNanos / SYNCS_PER_WINDOW, LEAST_DEFAULT_SYNC_NANOS);
      long chosen = Math.min(windowNanos, Math.min(part, MOST_DEFAULT_SYNC_NANOS));
      return new Sharing(consistency, chosen, onFailure, localShare);
    }
    Check.range("syncIntervalNanos", syncIntervalNanos, MIN_SYNC_NANOS, windowNanos);
    return this;
  }
}
