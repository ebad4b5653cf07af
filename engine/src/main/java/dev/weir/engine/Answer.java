package dev.weir.engine;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.engine.internal.matching.AnswerOfStatuses;
import dev.weir.rules.QueueBounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request: whether it may pass, and one status for each descriptor, in order. A
 * value: immutable, and equal to another one with the same contents. Safe for use by many threads.
 */
public abstract class Answer {
  /*
   * Why two kinds? Most requests have one descriptor that one limit decides, and most callers read
   * only whether it may pass. Such an answer keeps the store's numbers, in 64 bytes, and makes its
   * list, status and decision, of another 144 bytes, only for callers that read them.
   */

  /**
   * The reasons to let a request pass, from the one with the most weight to the one with the least.
   */
  private static final List<Reason> BY_WEIGHT =
      List.of(
          Reason.OVERLOADED,
          Reason.UNCERTAIN,
          Reason.KEY_SPACE_FULL,
          Reason.SHADOW,
          Reason.TOLERATED,
          Reason.WITHIN_LIMIT);

  /**
   * Creates one of the two kinds of answers that the engine makes; nothing else extends this class.
   */
  protected Answer() {}

  /**
   * Returns the answer of an engine that enforces its rules, for a domain with rules.
   *
   * @param statuses in the order of the descriptors; immutable
   * @param error why the request could not be decided, or null; there are no statuses then
   * @param revision the number of the rules that decided it, at least 0
   */
  public static Answer of(
      boolean allowed, List<Status> statuses, @Nullable String error, long revision) {
    return new AnswerOfStatuses(allowed, statuses, error, revision, false, true);
  }

  public static Answer error(String message, long revision) {
    return of(false, List.of(), message, revision);
  }

  /** Returns whether the request may pass. */
  public abstract boolean allowed();

  /** Returns the statuses in the order of the descriptors, immutable. */
  public abstract List<Status> statuses();

  /** Returns why the request could not be decided, or null; there are no statuses then. */
  public abstract @Nullable String error();

  /** Returns the number of the rules that decided the request, at least 0. */
  public abstract long revision();

  /**
   * Returns whether the request would have been refused, and passes because the engine only
   * watches.
   */
  public abstract boolean shadowed();

  /** Returns whether there are rules for the request's domain. */
  public abstract boolean domainKnown();

  /**
   * Returns the statuses that made the whole request a refusal, none if it may pass. Those of rules
   * in quota mode count only if no other status refuses.
   */
  public List<Status> refusing() {
    if (allowed()) {
      return List.of();
    }
    List<Status> statuses = statuses();
    if (statuses.size() == 1) {
      return statuses; // The usual case.
    }
    List<Status> over = new ArrayList<>();
    for (Status status : statuses) {
      if (!status.allowed()) {
        over.add(status);
      }
    }
    List<Status> required =
        over.stream().filter(each -> each.rule() == null || !each.rule().quotaMode()).toList();
    return required.isEmpty() ? over : required;
  }

  /**
   * Returns why the request may pass, or not.
   *
   * <p>For a refusal it is {@code OVER_LIMIT} if that is the reason of any status that refuses,
   * else the reason of the last of them. For a request that may pass it is {@code SHADOW} if it
   * passes only because of the engine's shadow mode; else the weightiest reason of the statuses
   * that are allowed, in this order: {@code OVERLOADED}, {@code UNCERTAIN}, {@code KEY_SPACE_FULL},
   * {@code SHADOW}, {@code TOLERATED}, {@code WITHIN_LIMIT}; and {@code NO_LIMIT} if nothing limits
   * any of them.
   */
  public Reason reason() {
    if (shadowed()) {
      return Reason.SHADOW;
    }
    return allowed() ? passing() : refusal();
  }

  private Reason passing() {
    List<Status> statuses = statuses();
    if (statuses.size() == 1) {
      return statuses.get(0).reason(); // The usual case.
    }
    int best = BY_WEIGHT.size();
    for (Status status : statuses) {
      int weight = BY_WEIGHT.indexOf(status.reason());
      if (status.allowed() && weight >= 0) {
        best = Math.min(best, weight);
      }
    }
    return best == BY_WEIGHT.size() ? Reason.NO_LIMIT : BY_WEIGHT.get(best);
  }

  private Reason refusal() {
    Reason reason = Reason.OVER_LIMIT;
    for (Status status : refusing()) {
      Decision decision = status.decision();
      if (decision == null || decision.reason() == Reason.OVER_LIMIT) {
        return Reason.OVER_LIMIT;
      }
      reason = decision.reason();
    }
    return reason;
  }

  /**
   * Returns the cause of {@link Reason#UNCERTAIN} as {@link Decision#cause()}, if that is the
   * {@link #reason} of the answer: of a refusal the {@link #deciding} status's, else that of the
   * first status with this reason. Empty for all other reasons.
   */
  public String cause() {
    if (reason() != Reason.UNCERTAIN) {
      return "";
    }
    Status status = allowed() ? null : deciding();
    for (Status each : statuses()) {
      if (status == null && each.reason() == Reason.UNCERTAIN) {
        status = each;
      }
    }
    return status == null ? "" : status.cause();
  }

  /**
   * Returns how long the rules allow this request to wait for its turn, in nanoseconds: the least
   * time in {@code on_limit} of those that refuse it. 0 if the request is not refused, if one of
   * the rules refuses at once, if the reason is another than the limit, or if no wait would help.
   */
  public long maxWaitNanos() {
    long least = Long.MAX_VALUE;
    for (Status status : refusing()) {
      CurrentLimit limit = status.currentLimit();
      Decision decision = status.decision();
      QueueBounds queue = limit == null ? null : limit.queue();
      boolean noPlace = status.rule() != null && status.rule().quotaMode();
      if (queue == null
          || noPlace
          || decision == null
          || decision.reason() != Reason.OVER_LIMIT
          || decision.retryAfterNanos() == Decision.NEVER) {
        return 0;
      }
      least = Math.min(least, queue.waitNanos());
    }
    return least == Long.MAX_VALUE ? 0 : least;
  }

  /**
   * Returns the status that decided: for a refusal, of the {@link #refusing} ones with the {@link
   * #reason} of the answer the one with the longest retry-after; if the request may pass, the
   * limited one with the least remaining. The first on ties; null if no limit matched.
   */
  public @Nullable Status deciding() {
    return allowed() ? best(statuses(), null) : best(refusing(), reason());
  }

  /** Returns the limited status that comes before all others, of those with a reason if given. */
  private static @Nullable Status best(List<Status> statuses, @Nullable Reason reason) {
    Status best = null;
    for (Status status : statuses) {
      boolean applies = status.decision() != null && (reason == null || status.reason() == reason);
      if (applies && (best == null || before(status, best))) {
        best = status;
      }
    }
    return best;
  }

  private static boolean before(Status a, Status b) {
    if (a.allowed() != b.allowed()) {
      return !a.allowed();
    }
    return a.allowed()
        ? a.limitRemaining() < b.limitRemaining()
        : retryAfterNanos(a) > retryAfterNanos(b);
  }

  private static long retryAfterNanos(Status status) {
    Decision decision = status.decision();
    return decision == null ? 0 : decision.retryAfterNanos();
  }

  @Override
  public final boolean equals(@Nullable Object other) {
    return other instanceof Answer that
        && allowed() == that.allowed()
        && shadowed() == that.shadowed()
        && domainKnown() == that.domainKnown()
        && revision() == that.revision()
        && Objects.equals(error(), that.error())
        && statuses().equals(that.statuses());
  }

  @Override
  public final int hashCode() {
    return Objects.hash(allowed(), statuses(), error(), revision(), shadowed(), domainKnown());
  }

  @Override
  public final String toString() {
    return "Answer[allowed=%s, statuses=%s, error=%s, revision=%d, shadowed=%s, domainKnown=%s]"
        .formatted(allowed(), statuses(), error(), revision(), shadowed(), domainKnown());
  }
}
