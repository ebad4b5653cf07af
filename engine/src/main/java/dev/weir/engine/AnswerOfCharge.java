package dev.weir.engine;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An answer to a request of one descriptor that matches a {@link BoundRule#plain} rule. */
final class AnswerOfCharge extends Answer {
  private final BoundRule bound;
  private final boolean passes;
  private final boolean onlyWatched;
  private final Reason reason;
  private final long remaining;
  private final long retryAfterNanos;
  private final long resetAfterNanos;
  private final long atNanos;

  /** Made when it is asked for, at worst by several threads, which then have equal ones. */
  private @Nullable List<Status> statuses;

  /**
   * @param charges of the request, one, which is decided; not kept
   * @param onlyWatched whether the engine refuses nothing
   */
  AnswerOfCharge(BoundRule bound, Charges charges, boolean onlyWatched) {
    this.bound = bound;
    this.onlyWatched = onlyWatched;
    passes = charges.allowed();
    reason = charges.reason(0);
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
    Binding binding = Objects.requireNonNull(bound.binding);
    CurrentLimit limit = Objects.requireNonNull(bound.currentLimit);
    Policy counted = binding.policy();
    Decision decision =
        new Decision(
            passes,
            reason,
            counted.name(),
            counted.burst(),
            remaining,
            retryAfterNanos,
            resetAfterNanos,
            atNanos);
    long untilReset = Status.untilReset(decision, false, limit.policy());
    return new Status(passes, bound.rule, decision, limit, remaining, untilReset);
  }

  @Override
  public @Nullable String error() {
    return null;
  }

  @Override
  public long revision() {
    return bound.revision;
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
