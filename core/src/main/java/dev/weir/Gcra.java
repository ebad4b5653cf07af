package dev.weir;

/** The generic cell rate algorithm over one word: the theoretical arrival time (TAT). */
final class Gcra extends Meter {
  /*
   * How is Gcra designed, and why? The state is one number, TAT: the instant at which the key
   * resets, its bucket full of permits again. A request moves TAT by its permits' emission
   * intervals and conforms if TAT is then at most the tolerance ahead of now. TAT <= now carries no
   * information, so such a slot may be dropped without admitting one permit too many. The emission
   * interval is rounded up, hence every rounding error denies. [ITU-T I.371]
   *
   * As a leaky bucket, the same word is the instant at which the queue will have drained: a queued
   * request leaves at the TAT it found, so that departures are one emission interval apart, and the
   * tolerance bounds the queue.
   *
   * When the limit changes, TAT stays: half a used bucket stays half a used bucket. One permit
   * costs at least the share it has of the largest limit, so the largest limit's bound holds.
   * Permits that another algorithm admitted therefore cost what they would under the smaller of the
   * two limits.
   *
   * Giving back is the delicate step. If nothing came after the charge, TAT simply steps back. If
   * something did, the bucket may have been full in between, had the charge not been: the charge
   * still weighs at most the rest of its own TAT, and stepping back by more would admit too much.
   * Such a step also makes every later charge's TAT a promise that is no longer true, so charges
   * whose TAT was at most the one stepped back from are barred: they keep their permits. That is
   * rare, so the segment remembers it and not the state: see Segment.bar. While a reservation is
   * waiting, only the last charge can be given back at all.
   */

  /** The furthest that a clock is taken to be behind, 73 years, so that sums stay in range. */
  private static final long FURTHEST_BEHIND_NANOS = 1L << 61;

  /**
   * The longest time that a bucket may need to refill because of reports: 36 years, twice of which
   * is in range.
   */
  static final long MOST_DEBT_NANOS = 1L << 60;

  /** The longs of a state. */
  static final int WORDS = 1;

  private final boolean leaky;
  private final boolean sharedByLimits;
  private final long window;

  /**
   * Creates the algorithm of a token bucket or a leaky bucket.
   *
   * @param sharedByLimits true if the capacity is the limit, and the state is kept when the limit
   *     changes
   */
  Gcra(boolean leaky, boolean sharedByLimits, long windowNanos) {
    this.leaky = leaky;
    this.sharedByLimits = sharedByLimits;
    this.window = windowNanos;
  }

  @Override
  int words() {
    return WORDS;
  }

  @Override
  long[] fresh() {
    return new long[] {LONG_AGO};
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    return Math.max(0, -room(charged(s[i], now, permits, policy), now, policy));
  }

  /** Returns the state after permits that fit: see {@link #room}. */
  static long charged(long tat, long now, long permits, Policy policy) {
    return Math.max(now, tat) + policy.emissionNanos * permits;
  }

  /**
   * Returns how far a state stays below the policy's tolerance; if it exceeds that, minus the wait
   * until it no longer does.
   */
  static long room(long tat, long now, Policy policy) {
    return policy.toleranceNanos - (tat - now);
  }

  @Override
  long queueNanos(long[] s, int i, long now, long permits, Policy policy) {
    long wait = waitNanos(s, i, now, permits, policy);
    if (!leaky || wait == Decision.NEVER) {
      return wait;
    }
    return wait > 0 ? Decision.NEVER : Math.max(now, s[i]) - now;
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effectiveNanos(s[i], now);
  }

  static long effectiveNanos(long tat, long now) {
    return Math.max(now, tat - FURTHEST_BEHIND_NANOS);
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    s[i] = charged(s[i], now, permits, policy);
    return s;
  }

  @Override
  long[] owe(long[] s, int i, long now, long permits, Policy policy, boolean mayGrow) {
    long emission = policy.emissionNanos;
    boolean most = emission > 0 && permits >= MOST_DEBT_NANOS / emission;
    long debt = Math.max(now, s[i]) - now + (most ? MOST_DEBT_NANOS : emission * permits);
    s[i] = Math.max(s[i], now + Math.min(MOST_DEBT_NANOS, debt));
    return s;
  }

  @Override
  long[] record(
      long[] s,
      int i,
      long now,
      long at,
      long permits,
      Policy policy,
      Policy admitting,
      boolean mayGrow) {
    long emission = policy.emissionNanos;
    long full = policy.toleranceNanos;
    if (sharedByLimits) {
      long limit = admitting.quota().permits();
      emission = Math.max(emission, limit == 0 ? 0 : window / limit + 1);
      full = Math.max(full, window); // Even if the limit is 0: it may be raised.
    }
    long cost = emission == 0 || permits >= full / emission ? full : emission * permits;
    long tat = Math.max(at, s[i]) + cost;
    s[i] = Math.max(s[i], Math.min(tat, at + full));
    return s;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long tat = s[i];
    if (policy.emissionNanos == 0 || resetNanos > tat || resetNanos <= now) {
      return 0;
    }
    boolean others = resetNanos < tat;
    if (others && (leaky || tat - policy.toleranceNanos > now)) {
      return 0;
    }
    // A part of the charge has refilled by now. The latest charge can still be undone as a whole.
    long refilled = others ? 0 : policy.emissionNanos - 1;
    long most = (resetNanos - now + refilled) / policy.emissionNanos;
    return Math.min(Math.min(permits, policy.burst()), most);
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    s[i] = Math.max(now, s[i] - permits * policy.emissionNanos);
    return s;
  }

  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    return s[i] > now ? now : LONG_AGO;
  }

  @Override
  long barredNanos(long[] s, int i, long resetNanos) {
    return resetNanos < s[i] ? s[i] : LONG_AGO;
  }

  @Override
  long balance(long[] s, int i, long now, Policy policy) {
    if (policy.emissionNanos == 0) {
      return 0;
    }
    return Math.floorDiv(room(Math.max(now, s[i]), now, policy), policy.emissionNanos);
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return s[i];
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    s[i] += now - known;
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    long backlog = Math.max(now, s[i]) - now;
    if (backlog > 0 && policy.emissionNanos > 0) {
      sink.charged(now, (backlog + policy.emissionNanos - 1) / policy.emissionNanos);
    }
  }
}
