package dev.weir;

import java.util.Arrays;

/**
 * One request as the store sees it, and the answer to it: a batch of charges that are made all or
 * not at all. Reusable; not safe for use by several threads at once.
 */
public final class Charges implements Results {
  /** How one charge's verdict counts in the verdict on the whole. */
  public enum Role {
    /** Must fit. */
    REQUIRED,
    /** Of all with this role at least one must fit. Those that fit are charged. */
    ANY,
    /** Is charged if it fits, and never refuses: a shadow. */
    OPTIONAL
  }

  private static final int WIDTH = 6;
  private static final int FINGERPRINT = 0;
  private static final int PERMITS = 1;
  private static final int REMAINING = 2;
  private static final int RETRY_AFTER = 3;
  private static final int RESET_AFTER = 4;
  private static final int AT = 5;

  private Limit[] limits = new Limit[1];
  private Role[] roles = new Role[1];
  private long[] values = new long[WIDTH];
  private Reason[] reasons = new Reason[1];
  private int size;
  private long maxWaitNanos;
  private boolean queued;
  private boolean peeking;
  private boolean allowed;

  /** What a store in this process works with, kept for the next request. */
  final Locks locks = new Locks();

  private Held[] held = {};

  @SuppressWarnings("unused")
  private long read;

  /** Forgets everything, ready for the next request. */
  public Charges clear() {
    Arrays.fill(limits, 0, size, null);
    size = 0;
    maxWaitNanos = 0;
    queued = false;
    peeking = false;
    allowed = false;
    return this;
  }

  /** Adds a charge that must fit. */
  public Charges add(Limit limit, long fingerprint, long permits) {
    return add(limit, fingerprint, permits, Role.REQUIRED);
  }

  /**
   * Adds a charge.
   *
   * @param permits any value; a negative one makes the charge, and so the request, {@link
   *     Reason#INVALID}
   * @throws IllegalStateException if {@link #maxWait} was called before
   */
  public Charges add(Limit limit, long fingerprint, long permits, Role role) {
    if (queued) {
      throw new IllegalStateException("charges: 2 (expected: 1, only one can wait)");
    }
    if (size == limits.length) {
      limits = Arrays.copyOf(limits, 2 * size);
      roles = Arrays.copyOf(roles, 2 * size);
      reasons = Arrays.copyOf(reasons, 2 * size);
      values = Arrays.copyOf(values, 2 * size * WIDTH);
    }
    limits[size] = Check.notNull("limit", limit);
    roles[size] = Check.notNull("role", role);
    values[size * WIDTH + FINGERPRINT] = fingerprint;
    values[size * WIDTH + PERMITS] = permits;
    size++;
    return this;
  }

  /** Decides without charging. */
  public Charges peek() {
    peeking = true;
    return this;
  }

  /**
   * Lets a request of one charge wait: it is charged for the instant at which it fits, if that is
   * at most so many nanoseconds away.
   *
   * @throws IllegalStateException if there is not exactly one charge
   */
  public Charges maxWait(long nanos) {
    if (size != 1) {
      throw new IllegalStateException("charges: " + size + " (expected: 1, only one can wait)");
    }
    maxWaitNanos = Check.range("maxWaitNanos", nanos, 0, Policy.MAX_TOLERANCE_NANOS);
    queued = true;
    return this;
  }

  public int size() {
    return size;
  }

  public Limit limit(int i) {
    return limits[i];
  }

  public long fingerprint(int i) {
    return values[i * WIDTH + FINGERPRINT];
  }

  public long permits(int i) {
    return values[i * WIDTH + PERMITS];
  }

  public Role role(int i) {
    return roles[i];
  }

  /** Changes the role of charge {@code i}, before the request is decided or decided again. */
  public void role(int i, Role role) {
    roles[i] = Check.notNull("role", role);
  }

  public boolean peeking() {
    return peeking;
  }

  /** Returns whether the charge may wait, up to {@link #maxWaitNanos}. */
  public boolean queued() {
    return queued;
  }

  public long maxWaitNanos() {
    return maxWaitNanos;
  }

  /** Returns whether the request as a whole may pass. */
  public boolean allowed() {
    return allowed;
  }

  /** Returns whether charge {@code i} for itself fits. */
  public boolean fits(int i) {
    return reasons[i] == Reason.WITHIN_LIMIT;
  }

  public Reason reason(int i) {
    return reasons[i];
  }

  /** As {@link Decision#remaining()}. */
  public long remaining(int i) {
    return values[i * WIDTH + REMAINING];
  }

  /** As {@link Decision#retryAfterNanos()}; for a charge that waits, its wait from now on. */
  public long retryAfterNanos(int i) {
    return values[i * WIDTH + RETRY_AFTER];
  }

  /** As {@link Decision#resetAfterNanos()}. */
  public long resetAfterNanos(int i) {
    return values[i * WIDTH + RESET_AFTER];
  }

  /** As {@link Decision#atNanos()}. */
  public long atNanos(int i) {
    return values[i * WIDTH + AT];
  }

  /**
   * Returns whether charge {@code i} passes although nobody knows whether it fits, because its
   * policy answers a failure of the store with {@link FailureAnswer#ALLOW}.
   */
  public boolean forgiven(int i) {
    return switch (reasons[i]) {
      case UNCERTAIN, OVERLOADED, KEY_SPACE_FULL ->
          limits[i].policy().onFailure() == FailureAnswer.ALLOW;
      default -> false;
    };
  }

  /**
   * Returns the decision on charge {@code i} for itself: allowed if it fits, also where the request
   * as a whole was refused for another's sake and nothing was charged; and allowed if it is {@link
   * #forgiven} and the whole is allowed.
   */
  public Decision decision(int i) {
    boolean fits = fits(i) || (allowed && forgiven(i));
    Policy policy = limits[i].policy();
    return new Decision(
        fits ? Outcome.ALLOWED : Outcome.DENIED,
        reasons[i],
        policy.name(),
        policy.burst(),
        remaining(i),
        fits ? 0 : retryAfterNanos(i),
        resetAfterNanos(i),
        atNanos(i));
  }

  /** Gives the result of the first charge away. */
  void copyTo(Results results, int i) {
    results.result(i, reason(0), remaining(0), retryAfterNanos(0), resetAfterNanos(0), atNanos(0));
  }

  /** Takes what was read beforehand, so that it is read. */
  void read(long read) {
    this.read = read;
  }

  /** Returns what a store in this process works with, one for each charge. */
  Held[] held() {
    int known = held.length;
    if (known < size) {
      held = Arrays.copyOf(held, limits.length);
      for (int i = known; i < held.length; i++) {
        held[i] = new Held();
      }
    }
    return held;
  }

  /** For stores: sets the verdict on the whole. */
  public void allowed(boolean allowed) {
    this.allowed = allowed;
  }

  /** For stores: sets the result of charge {@code i}; units and ranges as in {@link Decision}. */
  @Override
  public void result(
      int i,
      Reason reason,
      long remaining,
      long retryAfterNanos,
      long resetAfterNanos,
      long atNanos) {
    reasons[i] = reason;
    values[i * WIDTH + REMAINING] = remaining;
    values[i * WIDTH + RETRY_AFTER] = retryAfterNanos;
    values[i * WIDTH + RESET_AFTER] = resetAfterNanos;
    values[i * WIDTH + AT] = atNanos;
  }
}
