package dev.weir;

/**
 * Hears of every decision of a {@link RateLimiter}: for counters and logs. Must be safe for use by
 * many threads, and quick: it is called on the thread that decides, before the caller has its
 * answer. What it throws is dropped. It must not ask the same limiter.
 *
 * <p>{@code weir-micrometer} has one that feeds a meter registry.
 */
@FunctionalInterface
public interface LimiterListener {
  /**
   * Takes note of a decision. Called once for each request, whatever number of policies it is
   * charged by; not for a {@link RateLimiter#peek peek}.
   *
   * @param policy the name of the policy that decided, as {@link Decision#policy()}. Names are few:
   *     they come from the program, not from the requests
   * @param allowed whether the request may pass
   * @param reason why, as {@link Decision#reason()}; of a {@link PackedLimiter} never {@link
   *     Reason#TOLERATED}
   * @param permits how many were asked for, at least 0
   */
  void onDecision(String policy, boolean allowed, Reason reason, long permits);

  /** Returns a listener that passes on what it hears to this one and then to another. */
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
