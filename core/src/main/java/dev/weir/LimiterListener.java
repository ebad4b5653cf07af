package dev.weir;

/**
 * A receiver of every decision of a {@link RateLimiter}, for counters and logs. Must be safe for
 * use by many threads, and quick: it is called on the thread that decides, before the caller has
 * its answer. Exceptions that it throws are dropped. It must not call the same limiter.
 *
 * <p>{@code weir-micrometer} has one that feeds a meter registry.
 */
@FunctionalInterface
public interface LimiterListener {
  /**
   * Receives a decision. Called once for each request, however many policies it is charged by; not
   * for a {@link RateLimiter#peek peek}.
   *
   * @param policy the name of the policy that decided, as {@link Decision#policy()}. There are few
   *     names: they come from the program, not from the requests
   * @param allowed whether the request may pass
   * @param reason why, as {@link Decision#reason()}; never {@link Reason#TOLERATED} for a {@link
   *     PackedLimiter}
   * @param permits how many were requested, at least 0
   */
  void onDecision(String policy, boolean allowed, Reason reason, long permits);

  /** Returns a listener that passes each decision to this one and then to another. */
  default LimiterListener andThen(LimiterListener next) {
    Check.notNull("next", next);
    return (policy, allowed, reason, permits) -> {
      try {
        onDecision(policy, allowed, reason, permits);
      } finally {
        next.onDecision(policy, allowed, reason, permits);
      }
    };
  }
}
