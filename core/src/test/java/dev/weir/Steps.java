package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

/** One key's state under one policy, for the tables of the meters' tests: each row is one step. */
final class Steps {
  private final Policy policy;
  private final Meter meter;
  private long[] state;

  Steps(Policy policy) {
    this.policy = policy;
    meter = policy.shape().meter();
    state = meter.fresh();
  }

  static Steps of(Algorithm algorithm, long permits, long windowNanos) {
    return new Steps(Policy.builder(new Quota(permits, windowNanos)).algorithm(algorithm).build());
  }

  /**
   * Requests permits at an instant and charges those that fit; checks the remaining permits and the
   * wait.
   */
  Steps at(long now, long permits, long wait, long remaining) {
    long effective = meter.effectiveNanos(state, 0, now);
    long found = meter.waitNanos(state, 0, effective, permits, policy);
    long retry = found == Decision.NEVER ? found : found == 0 ? 0 : found + effective - now;
    String row = policy + ": " + permits + " permits at " + now;
    assertThat(retry).as("retry-after of %s", row).isEqualTo(wait);
    if (wait == 0 && permits > 0) {
      state = meter.charge(state, 0, effective, 0, permits, policy, true);
    }
    assertThat(meter.remaining(state, 0, effective, policy)).as("%s", row).isEqualTo(remaining);
    return this;
  }

  /** Checks the instant at which the key resets. */
  Steps resetsAt(long instant) {
    assertThat(meter.resetAtNanos(state, 0)).as("%s", policy).isEqualTo(instant);
    return this;
  }

  /** Gives back the charge made at an instant, after which the key would have reset. */
  Steps refund(long now, long permits, long at, long resetAt, long given) {
    long effective = meter.effectiveNanos(state, 0, now);
    long most = meter.refundable(state, 0, effective, permits, at, resetAt, policy);
    assertThat(most).as("refund at %d", now).isEqualTo(given);
    if (most > 0) {
      state = meter.refund(state, 0, effective, most, at, policy);
    }
    return this;
  }
}
