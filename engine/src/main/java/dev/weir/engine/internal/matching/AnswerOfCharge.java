package dev.weir.engine.internal.matching;

import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer to a request of one descriptor that matches a {@link PlainRule}. */
public final class AnswerOfCharge extends Answer {
  private final PlainRule rule;
  private final boolean passes;
  private final boolean onlyWatched;
  private final Reason reason;
  private final String cause;
  private final long remaining;
  private final long retryAfterNanos;
  private final long resetAfterNanos;
  private final long atNanos;

  /**
   * The statuses, made when they are first read, at worst by several threads, which then have equal
   * ones.
   */
  private @Nullable List<Status> statuses;

  /**
   * Creates the answer from a charge.
   *
   * @param charges the request's only charge, which is decided; not kept
   * @param onlyWatched true if the engine refuses nothing
   */
  AnswerOfCharge(PlainRule rule, Charges charges, boolean onlyWatched) {
    this.rule = rule;
    this.onlyWatched = onlyWatched;
    passes = charges.allowed();
    reason = charges.reason(0);
    cause = charges.cause(0);
    remaining = charges.remaining(0);
    retryAfterNanos = passes ? 0 : charges.retryAfterNanos(0);
    resetAfterNanos = charges.resetAfterNanos(0);
    atNanos = charges.atNanos(0);
  }

  @Override
  public boolean allowed() {
    return passes || onlyWatched;
  }

  @Override
  public List<Status> statuses() {
    List<Status> made = statuses;
    if (made == null) {
      made = List.of(status());
      statuses = made;
    }
    return made;
  }

  private Status status() {
    Decision decision =
        new Decision(
            passes,
            reason,
            cause,
            rule.counted().name(),
            rule.counted().burst(),
            remaining,
            retryAfterNanos,
            resetAfterNanos,
            atNanos,
            List.of());
    long untilReset = Status.untilReset(decision, false, rule.limit().policy());
    return new Status(passes, rule.rule(), decision, rule.limit(), remaining, untilReset);
  }

  @Override
  public @Nullable String error() {
    return null;
  }

  @Override
  public long revision() {
    return rule.revision();
  }

  @Override
  public boolean shadowed() {
    return onlyWatched && !passes;
  }

  @Override
  public boolean domainKnown() {
    return true;
  }
}
