package dev.weir;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A limiter without keys, or {@linkplain RateLimiter#forKey one key} of a limiter that has them.
 * Each method works like the {@link RateLimiter} method of the same name for one key. Safe for use
 * by many threads.
 *
 * <pre>{@code
 * SingleLimiter limiter = SingleLimiter.of(Quota.perSecond(5));
 * limiter.acquire();
 * send();
 * }</pre>
 */
public final class SingleLimiter {
  /** The room for one key under each policy, and under those that a change leaves behind. */
  private static final int ROOM = 1024;

  private final Requests requests;
  private final long fingerprint;

  SingleLimiter(Requests requests, long fingerprint) {
    this.requests = requests;
    this.fingerprint = fingerprint;
  }

  /** Returns a limiter with those quotas by exact sliding windows, in this process. */
  public static SingleLimiter of(Quota quota, Quota... more) {
    return RateLimiter.builder(quota, more).maxKeys(ROOM).buildSingle();
  }

  /** Returns a limiter with those policies, in this process. */
  public static SingleLimiter of(Policy policy, Policy... more) {
    return RateLimiter.builder(policy, more).maxKeys(ROOM).buildSingle();
  }

  /** Requests one permit now. */
  public Decision tryAcquire() {
    return tryAcquire(1);
  }

  /** Requests permits now: all of them or none. */
  public Decision tryAcquire(long permits) {
    return requests.decide(fingerprint, permits);
  }

  /** Takes as many permits as there are; returns how many, 0 to {@code permits}. */
  public long tryAcquireUpTo(long permits) {
    return requests.decideUpTo(fingerprint, permits);
  }

  /** Requests one permit now, without waiting for the store. */
  public CompletableFuture<Decision> tryAcquireAsync() {
    return tryAcquireAsync(1);
  }

  /** Requests permits now, without waiting for the store. */
  public CompletableFuture<Decision> tryAcquireAsync(long permits) {
    return requests.decideAsync(fingerprint, permits);
  }

  /** Returns the decision that {@link #tryAcquire()} would make, and charges nothing. */
  public Decision peek() {
    return peek(1);
  }

  /** Returns the decision that {@link #tryAcquire(long)} would make, and charges nothing. */
  public Decision peek(long permits) {
    return requests.peek(fingerprint, permits);
  }

  /** Holds the most that a request may cost. See {@link RateLimiter#hold}. */
  public Hold hold(long most) {
    return requests.hold(fingerprint, most);
  }

  /** Counts a cost that is known only now. See {@link RateLimiter#charge}. */
  public Decision charge(long permits) {
    return requests.charge(fingerprint, permits);
  }

  /** Counts a cost that is known only now, without waiting for the store. */
  public CompletableFuture<Decision> chargeAsync(long permits) {
    return requests.chargeAsync(fingerprint, permits);
  }

  /** Waits for one permit, however long that takes. */
  public Decision acquire() throws InterruptedException {
    return requests.acquire(fingerprint, 1, Sleeps.LONGEST_NANOS);
  }

  /** Waits for one permit, at most {@code timeout}. */
  public Decision acquire(Duration timeout) throws InterruptedException {
    return acquire(1, timeout);
  }

  /**
   * Waits for permits.
   *
   * @param timeout zero to 36 years
   * @throws InterruptedException if the thread is interrupted; the permits are then given back
   */
  public Decision acquire(long permits, Duration timeout) throws InterruptedException {
    return requests.acquire(fingerprint, permits, Sleeps.nanos("timeout", timeout));
  }

  /**
   * Requests one permit that may be used later, without a thread that waits. See {@link
   * #acquire()}.
   */
  public CompletableFuture<Decision> acquireAsync() {
    return DelayedDecision.of(requests, fingerprint, 1, Sleeps.LONGEST_NANOS);
  }

  /**
   * Requests one permit that may be used within a timeout, without a thread that waits. See {@link
   * #acquire(Duration)}.
   */
  public CompletableFuture<Decision> acquireAsync(Duration timeout) {
    return acquireAsync(1, timeout);
  }

  /**
   * Requests permits that may be used within a timeout, without a thread that waits. See {@link
   * #acquire(long, Duration)}.
   */
  public CompletableFuture<Decision> acquireAsync(long permits, Duration timeout) {
    long nanos = Sleeps.nanos("timeout", timeout);
    return DelayedDecision.of(requests, fingerprint, permits, nanos);
  }

  /**
   * Charges permits for the instant at which they fit, if that is at most {@code maxWait} away.
   *
   * @param maxWait zero to 36 years
   * @throws IllegalStateException if there are several policies
   */
  public Reservation reserve(long permits, Duration maxWait) {
    return requests.reserve(fingerprint, permits, Sleeps.nanos("maxWait", maxWait));
  }

  /** Gives back permits; returns how many, 0 to {@code permits}. */
  public long refund(long permits, Decision charged) {
    return requests.refund(fingerprint, permits, charged);
  }

  /** Forgets what was used. Returns whether anything was used. */
  public boolean reset() {
    return requests.reset(fingerprint);
  }

  /**
   * Puts other policies in force, for all keys if there are others. See {@link
   * RateLimiter#replace}.
   */
  public void replace(Policy policy, Policy... more) {
    new RateLimiter(requests).replace(policy, more);
  }

  /**
   * Puts other quotas in force, for all keys if there are others. See {@link RateLimiter#replace}.
   */
  public void replace(Quota quota, Quota... more) {
    new RateLimiter(requests).replace(quota, more);
  }
}
