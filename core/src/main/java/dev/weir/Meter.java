package dev.weir;

/**
 * One algorithm for one {@link Shape}: pure steps over the words of one key's state. No clock, no
 * lock, no input or output; the caller holds the key's lock.
 *
 * <p>Everything rests on one question, {@link #waitNanos}: how long until these permits fit? Zero
 * is an admission, more is a refusal that carries its own exact retry-after, or a reservation if
 * the caller will wait. A refusal writes nothing.
 *
 * <p><b>Time.</b> A state keeps the latest instant at which it was charged, and an older {@code
 * now} is decided at that instant: state time never goes back. (A bucket needs no such memory: its
 * one word only grows, and an older {@code now} can only be refused.) A reservation charges a later
 * instant; until that comes nobody overtakes it.
 *
 * <p>Instants are within {@code ±}{@link #HORIZON_NANOS}, so that sums with windows and waits
 * cannot overflow.
 */
abstract class Meter {
  /** The bound on instants: 146 years on either side of 1970. */
  static final long HORIZON_NANOS = 1L << 62;

  /** Before any instant, yet far enough from overflow to be added to. */
  static final long LONG_AGO = -HORIZON_NANOS - (1L << 61);

  /** More permits than any limit, yet few enough that products with them cannot overflow. */
  static final long MOST_PERMITS = 1L << 33;

  /** Receives what a state still counts, oldest first. */
  interface Sink {
    void charged(long atNanos, long permits);
  }

  /** Returns the state of a key that has never been seen. */
  abstract long[] fresh();

  /**
   * Returns the instant that a request at {@code nowNanos} is decided at. Every other step takes
   * such an effective instant for its {@code nowNanos}.
   */
  abstract long effectiveNanos(long[] state, long nowNanos);

  /**
   * Returns how long after {@code nowNanos} the permits fit if nobody else asks, {@link
   * Decision#NEVER} if they never do. Zero permits always fit.
   */
  final long waitNanos(long[] state, long nowNanos, long permits, Policy policy) {
    if (permits == 0) {
      return 0;
    }
    if (permits > policy.burst() || policy.quota().permits() == 0) {
      return Decision.NEVER;
    }
    return fitNanos(state, nowNanos, permits, policy);
  }

  /** As {@link #waitNanos}, for 1 to the policy's burst permits. */
  abstract long fitNanos(long[] state, long nowNanos, long permits, Policy policy);

  /**
   * Returns how long the permits wait when they may queue, at least {@link #waitNanos}; {@link
   * Decision#NEVER} if they cannot queue.
   */
  long queueNanos(long[] state, long nowNanos, long permits, Policy policy) {
    return waitNanos(state, nowNanos, permits, policy);
  }

  /**
   * Charges permits that fit at {@code nowNanos + waitNanos}, as found by {@link #waitNanos} or
   * {@link #queueNanos} on this same state.
   *
   * @return the state, moved if it had to grow
   */
  abstract long[] charge(long[] state, long nowNanos, long waitNanos, long permits, Policy policy);

  /**
   * Counts permits that were admitted elsewhere at {@code nowNanos} for {@code atNanos}, whether
   * they fit or not. Never lowers what the state counts.
   *
   * @param policy the policy that the state will be asked under
   * @param admitting the policy that admitted them
   */
  abstract long[] force(
      long[] state, long nowNanos, long atNanos, long permits, Policy policy, Policy admitting);

  /**
   * Gives back at most {@code permits} of a charge, as far as they still count and giving them back
   * cannot admit too much.
   *
   * @param atNanos {@link Decision#atNanos()} of the charge
   * @param resetNanos the instant at which the key would have been as good as new after the charge
   * @return how many permits were given back
   */
  abstract long refund(
      long[] state, long nowNanos, long permits, long atNanos, long resetNanos, Policy policy);

  /** Returns how many permits fit at once, 0 to the policy's burst. */
  abstract long remaining(long[] state, long nowNanos, Policy policy);

  /** Returns the instant from which the state is indistinguishable from a fresh one. */
  abstract long restedAtNanos(long[] state);

  /**
   * Tells what the state still counts; where it has forgotten when, the latest possible instant.
   */
  abstract void outline(long[] state, long nowNanos, Policy policy, Sink sink);
}
