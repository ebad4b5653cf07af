package dev.weir;

import java.util.Arrays;

/**
 * An algorithm for one {@link Shape}, as steps over the words of one key's state. No clock, no
 * lock, no input or output; the caller holds the key's lock.
 *
 * <p>Instants are within {@code ±}{@link #HORIZON_NANOS}, so that sums with windows and waits
 * cannot overflow.
 */
abstract class Meter {
  /*
   * How are the steps designed, and why? Everything rests on one method, waitNanos: how long until
   * these permits fit? Zero is an admission; more is a refusal with its exact retry-after, or a
   * reservation if the caller will wait. A refusal writes nothing.
   *
   * A step is a function of (state, now, permits, policy), and one that changes the state writes
   * the next one over it: into the array s, from the offset i on. It returns no new state because
   * that would be an object for every decision, and a second cache line: a table keeps thousands of
   * states side by side in one array, each beside its fingerprint, so that finding a key has
   * already fetched all that deciding needs. The offset is how a step finds its words there. A
   * state of a length that varies (words() is 0) is in a page of a Slab, or has an array of its
   * own, and then i is 0. The steps return the array that holds the state now: s itself, or, if
   * more room was necessary, a larger one of its own. Nothing else is written and nothing is
   * remembered in between: a Meter has no state, and serves all keys of its shape.
   *
   * The steps that only read may be called on a state that another thread is changing. The result
   * is then worthless, but they do return: no exception, no endless loop.
   *
   * State time never goes back: if now is older than that of the latest charge, the request is
   * decided at the time of that charge. (A bucket needs no such memory: its one word only grows,
   * and an older now can only be refused.) A reservation charges a later instant; until that comes
   * no request overtakes it.
   */

  /** The bound on instants: 109 years on either side of 1970. */
  static final long HORIZON_NANOS = Ticker.HORIZON_NANOS;

  /**
   * A time before any instant, yet far enough from overflow to be added to, and to make a stamp of.
   */
  static final long LONG_AGO = -(1L << 62);

  /**
   * A number of permits above any limit, yet small enough that products with it cannot overflow.
   */
  static final long MOST_PERMITS = 1L << 33;

  /** A receiver of the charges that a state still counts, oldest first. */
  interface Sink {
    void charged(long atNanos, long permits);
  }

  /**
   * Returns how many longs a state takes in its slot; 0 if its length varies, so that it is in a
   * slab.
   */
  abstract int words();

  /**
   * Returns the state of a key that has not been seen before. Its first word is that of no other
   * state.
   */
  abstract long[] fresh();

  /**
   * Returns the instant at which a request at {@code nowNanos} is decided. Every other step takes
   * such an effective instant for its {@code nowNanos}.
   */
  abstract long effectiveNanos(long[] s, int i, long nowNanos);

  /**
   * Returns how long after {@code nowNanos} the permits fit if no others are requested, {@link
   * Decision#NEVER} if they never do. Zero permits always fit.
   */
  final long waitNanos(long[] s, int i, long nowNanos, long permits, Policy policy) {
    if (permits == 0) {
      return 0;
    }
    if (permits > policy.burst() || policy.quota().permits() == 0) {
      return Decision.NEVER;
    }
    return fitNanos(s, i, nowNanos, permits, policy);
  }

  /** Returns {@link #waitNanos} for 1 to the policy's burst permits. */
  abstract long fitNanos(long[] s, int i, long nowNanos, long permits, Policy policy);

  /**
   * Returns how long the permits wait when they may queue, at least {@link #waitNanos}; {@link
   * Decision#NEVER} if they cannot queue.
   */
  long queueNanos(long[] s, int i, long nowNanos, long permits, Policy policy) {
    return waitNanos(s, i, nowNanos, permits, policy);
  }

  /**
   * Charges permits that fit at {@code nowNanos + waitNanos}, as found by {@link #waitNanos} or
   * {@link #queueNanos} on this same state.
   *
   * @param mayGrow whether a state whose length varies may become longer; if not, it keeps less
   *     detail and counts permits for longer
   * @return the array that holds the state now
   */
  abstract long[] charge(
      long[] s, int i, long nowNanos, long waitNanos, long permits, Policy policy, boolean mayGrow);

  /**
   * Counts permits that were admitted elsewhere at {@code nowNanos} for {@code atNanos}, whether
   * they fit or not. Never lowers what the state counts.
   *
   * @param policy the policy by which the state will be read
   * @param admitting the policy that admitted them
   * @return the array that holds the state now
   */
  abstract long[] record(
      long[] s,
      int i,
      long nowNanos,
      long atNanos,
      long permits,
      Policy policy,
      Policy admitting,
      boolean mayGrow);

  /**
   * Counts permits of this policy now, whether they fit or not: what is beyond the limit is a debt.
   *
   * @return the array that holds the state now
   */
  long[] owe(long[] s, int i, long nowNanos, long permits, Policy policy, boolean mayGrow) {
    return record(s, i, nowNanos, nowNanos, permits, policy, policy, mayGrow);
  }

  /**
   * Returns how many permits of a charge can be given back, at most {@code permits}: those that
   * still count, and only as many as cannot admit too much.
   *
   * @param atNanos {@link Decision#atNanos()} of the charge
   * @param resetNanos the instant at which the key would have reset after the charge
   */
  abstract long refundable(
      long[] s, int i, long nowNanos, long permits, long atNanos, long resetNanos, Policy policy);

  /**
   * Gives back as many permits as {@link #refundable} allowed, at least one.
   *
   * @return the array that holds the state now
   */
  abstract long[] refund(long[] s, int i, long nowNanos, long permits, long atNanos, Policy policy);

  /**
   * Makes a charge count anew from now on, if the algorithm has charges that are renewed, and the
   * state still counts it. Takes no more room.
   *
   * @param atNanos {@link Decision#atNanos()} of the charge
   * @param laterNanos how much later than now it counts from, or earlier, if it is negative
   * @return whether it was renewed
   */
  boolean renew(long[] s, int i, long nowNanos, long atNanos, long laterNanos) {
    return false;
  }

  /**
   * Returns the instant of the charge that is given back first where only the number of permits is
   * known, as {@link #refundable} takes it: the newest that the state still counts. {@link
   * #LONG_AGO} if it counts none.
   */
  abstract long newestChargeNanos(long[] s, int i, long nowNanos);

  /**
   * Returns the latest {@code resetNanos} of the charges that must keep their permits once the
   * charge with the given one was refunded; {@link #LONG_AGO} if there are none.
   */
  long barredNanos(long[] s, int i, long resetNanos) {
    return LONG_AGO;
  }

  /** Returns how many permits fit at once, 0 to the policy's burst. */
  final long remaining(long[] s, int i, long nowNanos, Policy policy) {
    return Math.max(0, balance(s, i, nowNanos, policy));
  }

  /**
   * Returns how many permits fit at once, at most the policy's burst; minus the debt, if more are
   * counted than fit. While a reservation waits, nothing fits and its debt is not known: 0.
   */
  abstract long balance(long[] s, int i, long nowNanos, Policy policy);

  /**
   * Returns the instant at which the key resets: from then on its state is equal to a fresh one.
   */
  abstract long resetAtNanos(long[] s, int i);

  /**
   * Prepares a state to be {@linkplain #shift shifted} to another clock: where windows are aligned,
   * its instants become the calendar's.
   */
  void lift(long[] s, int i) {}

  /**
   * Moves a lifted state to this clock. This clock shows {@code nowNanos} when the clock by which
   * the state was charged, or its calendar if windows are aligned, would show {@code knownNanos}.
   * Everything in the state counts at least as long by this clock. An aligned window becomes the
   * current one here, or a fresh state if it was over.
   */
  abstract void shift(long[] s, int i, long knownNanos, long nowNanos);

  /** Returns a copy of a state in an array of its own. */
  long[] copy(long[] s, int i) {
    return Arrays.copyOfRange(s, i, i + words());
  }

  /** Returns a state, in an array of its own, with a length for which slabs have blocks. */
  long[] fitted(long[] s) {
    return s;
  }

  /** Returns an equal state in as few words as possible. */
  long[] compact(long[] s) {
    return s.clone();
  }

  /**
   * Passes to the sink what the state still counts, oldest first; a permit whose instant is no
   * longer known, with the latest possible instant.
   */
  abstract void forEachCharge(long[] s, int i, long nowNanos, Policy policy, Sink sink);

  /*
   * A stamp is, in one word, the latest instant charged, and whether that was in the future when it
   * was charged. If it was not, the instant is the state's time: an older now is decided there. If
   * it was, it is a reservation: every request before it waits for it, so the state's time before
   * it does not matter and need not be known.
   */

  static long stamp(long nanos, boolean reserved) {
    return nanos << 1 | (reserved ? 1 : 0);
  }

  static long instant(long stamp) {
    return stamp >> 1;
  }

  static boolean reserved(long stamp) {
    return (stamp & 1) != 0;
  }

  static long effective(long stamp, long nowNanos) {
    return reserved(stamp) ? nowNanos : Math.max(nowNanos, instant(stamp));
  }
}
