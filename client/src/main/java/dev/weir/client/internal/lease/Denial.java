package dev.weir.client.internal.lease;

import dev.weir.Decision;
import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.shared.Clocks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A refusal by the service, repeated without a call for as long as the service would refuse too.
 * Safe for use by many threads.
 */
final class Denial {
  /**
   * The time for which one answer is used for all requests: its retry-after is too long by less
   * than this.
   */
  private static final long SAME_NANOS = 1_000_000L;

  private record ReportedDenial(Answer answer, long atNanos) {}

  private final Service by;
  private final long revision;
  private final long permits;
  private final Clocks.Instant until;
  private final Clocks.Instant retryAt;
  private final Status status;
  private volatile @Nullable ReportedDenial told;

  /**
   * @param permits the least number of permits for which a request is refused
   * @param refuseNanos the time for which the refusal holds, from the instant at which the message
   *     was sent
   * @param status the status with which the service refused
   */
  Denial(
      Service by,
      long revision,
      long permits,
      Clocks.Instant sentAt,
      long refuseNanos,
      Status status) {
    this.by = by;
    this.revision = revision;
    this.permits = permits;
    this.status = status;
    until = sentAt.plus(refuseNanos);
    Decision decision = status.decision();
    retryAt =
        decision == null || decision.retryAfterNanos() == Decision.NEVER
            ? until
            : sentAt.plus(decision.retryAfterNanos());
  }

  /**
   * Returns whether the refusal holds for this number of permits. It no longer does if other rules
   * are in force.
   */
  boolean refuses(long wanted, Clocks clocks) {
    return wanted >= permits && by.revision() == revision && !clocks.reached(until);
  }

  boolean over(Clocks clocks) {
    return by.revision() != revision || clocks.reached(until);
  }

  /** Returns the answer to a request with this descriptor alone. */
  Answer answer(Clocks clocks) {
    ReportedDenial last = told;
    long now = clocks.nanos();
    if (last != null && now - last.atNanos < SAME_NANOS && now - last.atNanos >= 0) {
      return last.answer;
    }
    Answer answer = Answer.of(false, List.of(status(clocks)), null, revision);
    told = new ReportedDenial(answer, now);
    return answer;
  }

  /** Returns the status that the service would send now. */
  Status status(Clocks clocks) {
    Decision said = status.decision();
    if (said == null || said.retryAfterNanos() == Decision.NEVER) {
      return status;
    }
    long retryAfter = Math.max(1, clocks.until(retryAt));
    long passed = Math.max(0, said.retryAfterNanos() - retryAfter);
    Decision now =
        new Decision(
            false,
            said.reason(),
            said.policy(),
            said.limit(),
            said.remaining(),
            retryAfter,
            Math.max(retryAfter, said.resetAfterNanos() - passed),
            clocks.nanos());
    return new Status(
        false,
        null,
        now,
        status.currentLimit(),
        status.limitRemaining(),
        Math.max(1, now.retryAfterSeconds()));
  }
}
