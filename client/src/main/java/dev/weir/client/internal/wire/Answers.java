package dev.weir.client.internal.wire;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.internal.UncertainCause;
import dev.weir.protocol.v1.WeirProto;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.rules.RateLimitUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A reader of the service's messages as answers. Safe for use by many threads. */
public final class Answers {
  /** The retry-after of a request that could not be decided. */
  static final long RETRY_NANOS = 1_000_000_000L;

  /** The most limits that are kept; answers share them instead of each making its own. */
  private static final int MOST_LIMITS = 1_024;

  private record Numbers(String name, long limit, long windowMillis, String algorithm) {}

  private final Map<Numbers, CurrentLimit> limits = new ConcurrentHashMap<>();

  /** Returns the answer to a request. */
  public Answer of(CheckResult result, long revision, long nowNanos) {
    if (!result.getError().isEmpty()) {
      return Answer.of(false, List.of(), result.getError(), revision);
    }
    int size = result.getStatusesCount();
    if (size == 1) {
      Status status = status(result.getStatuses(0), nowNanos);
      return Answer.of(result.getAllowed(), List.of(status), null, revision);
    }
    List<Status> statuses = new ArrayList<>(size);
    for (DescriptorStatus status : result.getStatusesList()) {
      statuses.add(status(status, nowNanos));
    }
    return Answer.of(result.getAllowed(), List.copyOf(statuses), null, revision);
  }

  private Status status(DescriptorStatus said, long nowNanos) {
    boolean allowed = said.getCode() == WeirProto.Code.CODE_OK;
    if (said.getUnlimited()) {
      return new Status(true, null, null, null, Status.UNLIMITED, 0);
    }
    Reason reason = reason(said.getReason());
    if (reason == Reason.NO_LIMIT) {
      return new Status(true, null, null, null, 0, 0);
    }
    CurrentLimit limit = said.getPolicy().isEmpty() ? null : limit(said);
    long retryAfter = said.hasRetryAfterMs() ? nanos(said.getRetryAfterMs()) : Decision.NEVER;
    Decision decision =
        new Decision(
            allowed,
            reason,
            reason == Reason.UNCERTAIN ? cause(said) : "",
            said.getPolicy(),
            limit == null ? 0 : limit.policy().burst(),
            said.getRemaining() - said.getDebt(),
            allowed ? 0 : retryAfter,
            nanos(said.getResetAfterMs()),
            nowNanos,
            List.of());
    long until =
        allowed
            ? decision.resetAfterNanos()
            : retryAfter == Decision.NEVER ? nanos(said.getWindowMs()) : retryAfter;
    return new Status(
        allowed, null, decision, limit, said.getRemaining(), Math.max(1, ceilSeconds(until)));
  }

  private CurrentLimit limit(DescriptorStatus said) {
    Numbers numbers =
        new Numbers(said.getPolicy(), said.getLimit(), said.getWindowMs(), said.getAlgorithm());
    CurrentLimit known = limits.get(numbers);
    if (known != null) {
      return known;
    }
    if (limits.size() >= MOST_LIMITS) {
      limits.clear();
    }
    CurrentLimit made = limit(numbers);
    limits.put(numbers, made);
    return made;
  }

  private static CurrentLimit limit(Numbers numbers) {
    long window =
        Math.max(1, Math.min(Quota.MAX_WINDOW_NANOS, nanos(Math.max(1, numbers.windowMillis))));
    long permits = Math.max(0, Math.min(Quota.MAX_PERMITS, numbers.limit));
    Policy policy =
        Policy.builder(new Quota(permits, window))
            .name(numbers.name)
            .algorithm(algorithm(numbers.algorithm))
            .build();
    return new CurrentLimit(permits, unit(window), "", policy);
  }

  /** Returns the algorithm, or the default one if a newer service names another. */
  private static Algorithm algorithm(String text) {
    for (Algorithm each : Algorithm.values()) {
      if (each.text().equals(text)) {
        return each;
      }
    }
    return Algorithm.SLIDING_WINDOW;
  }

  private static @Nullable RateLimitUnit unit(long windowNanos) {
    for (RateLimitUnit unit : RateLimitUnit.values()) {
      if (TimeUnit.SECONDS.toNanos(unit.seconds()) == windowNanos) {
        return unit;
      }
    }
    return null;
  }

  private static Reason reason(WeirProto.Reason said) {
    return switch (said) {
      case REASON_WITHIN_LIMIT -> Reason.WITHIN_LIMIT;
      case REASON_OVER_LIMIT -> Reason.OVER_LIMIT;
      case REASON_TOLERATED -> Reason.TOLERATED;
      case REASON_SHADOW -> Reason.SHADOW;
      case REASON_OVERLOADED -> Reason.OVERLOADED;
      case REASON_KEY_SPACE_FULL -> Reason.KEY_SPACE_FULL;
      case REASON_INVALID -> Reason.INVALID;
      case REASON_NO_LIMIT -> Reason.NO_LIMIT;
      case REASON_UNCERTAIN, REASON_UNSPECIFIED, UNRECOGNIZED -> Reason.UNCERTAIN;
    };
  }

  private static String cause(DescriptorStatus said) {
    return said.getReason() == WeirProto.Reason.REASON_UNCERTAIN
        ? said.getCause()
        : UncertainCause.UNKNOWN_REASON;
  }

  /** Returns the answer to a request that is admitted from a lease. */
  public static Answer leased(Status said, long revision) {
    return Answer.of(true, List.of(admitted(said)), null, revision);
  }

  /** Returns a new status, whose identity leads a refund to its lease. */
  private static Status admitted(Status said) {
    Decision before = said.decision();
    Decision decision =
        before == null
            ? null
            : new Decision(
                true,
                Reason.WITHIN_LIMIT,
                before.policy(),
                before.limit(),
                before.remaining(),
                0,
                before.resetAfterNanos(),
                before.atNanos());
    return new Status(
        true,
        null,
        decision,
        said.currentLimit(),
        said.limitRemaining(),
        said.durationUntilResetSeconds());
  }

  /** Returns the status of a descriptor while the service cannot be reached. */
  public static Status unknown(
      boolean allowed, Reason reason, @Nullable CurrentLimit limit, long nowNanos) {
    Decision decision =
        new Decision(
            allowed,
            reason,
            reason == Reason.UNCERTAIN ? UncertainCause.UPSTREAM : "",
            limit == null ? "" : limit.policy().name(),
            limit == null ? 0 : limit.policy().burst(),
            0,
            allowed ? 0 : RETRY_NANOS,
            0,
            nowNanos,
            List.of());
    return new Status(allowed, null, decision, limit, 0, 1);
  }

  /** Returns the status for a decision of this process. */
  public static Status of(Decision decision, @Nullable CurrentLimit limit) {
    long until = decision.allowed() ? decision.resetAfterNanos() : decision.retryAfterNanos();
    long seconds =
        until == Decision.NEVER && limit != null
            ? ceilSeconds(limit.policy().quota().windowNanos())
            : ceilSeconds(until);
    return new Status(
        decision.allowed(), null, decision, limit, decision.remaining(), Math.max(1, seconds));
  }

  /**
   * Returns the answer that a request would get, from the answer to one that only peeked: the
   * permits it needs must remain. The retry-after of a refused request is the time until the key is
   * as if it had never been used, which is not too short.
   */
  public static Answer peeked(Answer looked, long[] permits) {
    if (looked.error() != null) {
      return looked;
    }
    List<Status> statuses = new ArrayList<>();
    boolean allowed = looked.allowed();
    for (int i = 0; i < looked.statuses().size(); i++) {
      Status status = looked.statuses().get(i);
      Decision decision = status.decision();
      boolean counts = decision != null && decision.reason() == Reason.WITHIN_LIMIT;
      if (counts && decision != null && permits[i] > decision.remaining()) {
        allowed = false;
        boolean never = permits[i] > decision.limit();
        Decision refused =
            new Decision(
                false,
                Reason.OVER_LIMIT,
                decision.policy(),
                decision.limit(),
                decision.remaining(),
                never ? Decision.NEVER : Math.max(1, decision.resetAfterNanos()),
                decision.resetAfterNanos(),
                decision.atNanos());
        status = of(refused, status.currentLimit());
      }
      statuses.add(status);
    }
    return Answer.of(allowed, List.copyOf(statuses), null, looked.revision());
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis); // The conversion saturates.
  }

  private static long ceilSeconds(long nanos) {
    return nanos / 1_000_000_000L + (nanos % 1_000_000_000L > 0 ? 1 : 0);
  }
}
