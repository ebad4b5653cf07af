package dev.weir;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Permits that are held for a request whose cost is known only afterwards: the most that it may
 * cost is charged before, and replaced by what it did cost. Safe for use by many threads.
 *
 * <pre>{@code
 * Hold hold = tokens.hold(user, promptTokens + maxTokens);
 * if (!hold.granted()) {
 *   refuse(hold.decision().retryAfterSeconds());
 * } else {
 *   hold.settle(answer().usedTokens());
 * }
 * }</pre>
 *
 * <p>Card payments have the same steps: authorize, capture, void.
 */
public final class Hold {
  /*
   * Why can a hold not admit too much? It is charged in full until it is settled, and settling gives
   * back at most the difference, by the rules of a refund. What is never settled, because the
   * process has ended or nobody knew the cost, stays charged until it has passed: that can only
   * refuse. A cost above the hold is counted as a report, at the time of the settlement, so it is a
   * debt from then on.
   */

  private static final long NOT_SETTLED = -1;

  private final Requests requests;
  private final long fingerprint;
  private final long most;
  private final Decision decision;

  /** The largest cost by which it was settled. */
  private final AtomicLong settled = new AtomicLong(NOT_SETTLED);

  Hold(Requests requests, long fingerprint, long most, Decision decision) {
    this.requests = requests;
    this.fingerprint = fingerprint;
    this.most = decision.allowed() ? most : 0;
    this.decision = decision;
  }

  /** Returns whether the permits are held, so that the request may run. */
  public boolean granted() {
    return decision.allowed();
  }

  /** Returns the decision on the permits. */
  public Decision decision() {
    return decision;
  }

  /** Returns how many permits are held, or were until the settlement; 0 if it was refused. */
  public long permits() {
    return most;
  }

  /**
   * Settles the hold by what the request did cost: gives back what is less, and counts what is more
   * whatever is left. The first settlement counts; a later one with a larger cost counts the
   * difference, and any other changes nothing. Of a hold that was refused, the whole cost is more.
   *
   * @param cost at least 0
   * @return how many permits were given back; minus those that were counted in addition. Of permits
   *     that no longer count, none are given back
   * @throws IllegalArgumentException if the cost is negative
   */
  public long settle(long cost) {
    Check.range("cost", cost, 0, Long.MAX_VALUE);
    long before = settled.getAndUpdate(known -> Math.max(known, cost));
    long counted = before == NOT_SETTLED ? most : before;
    if (cost > counted) {
      Decision unused = requests.charge(fingerprint, cost - counted);
      return counted - cost;
    }
    boolean less = before == NOT_SETTLED && cost < most;
    return less ? requests.refund(fingerprint, most - cost, decision) : 0;
  }

  /** Settles the hold for nothing: the request did not run. See {@link #settle}. */
  public long release() {
    return settle(0);
  }
}
