package dev.weir;

import java.util.Arrays;

/**
 * One request as the store sees it, and the answer to it: a batch of charges that are made all or
 * not at all. Reusable; not safe for use by several threads at once.
 */
public final class Charges {
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

  private Binding[] bindings = new Binding[1];
  private Role[] roles = new Role[1];
  private long[] values = new long[WIDTH];
  private Reason[] reasons = new Reason[1];
  private int size;
  private long maxWaitNanos;
  private boolean queued;
  private boolean peeking;
  private boolean lending;
  private boolean allowed;

  /** Forgets everything, ready for the next request. */
  public Charges clear() {
    Arrays.fill(bindings, 0, size, null);
    size = 0;
    maxWaitNanos = 0;
    queued = false;
    peeking = false;
    lending = false;
    allowed = false;
    return this;
  }

  /** Adds a charge that must fit. */
  public Charges add(Binding binding, long fingerprint, long permits) {
    return add(binding, fingerprint, permits, Role.REQUIRED);
  }

  /**
   * Adds a charge.
   *
   * @param permits any value; a negative one makes the charge {@link Reason#INVALID}
   * @throws IllegalStateException if {@link #maxWait} was called before
   */
  public Charges add(Binding binding, long fingerprint, long permits, Role role) {
    if (queued) {
      throw new IllegalStateException("charges: 2 (expected: 1, only one can wait)");
    }
    if (size == bindings.length) {
      bindings = Arrays.copyOf(bindings, 2 * size);
      roles = Arrays.copyOf(roles, 2 * size);
      reasons = Arrays.copyOf(reasons, 2 * size);
      values = Arrays.copyOf(values, 2 * size * WIDTH);
    }
    bindings[size] = Check.notNull("binding", binding);
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
   * Says that the permits of the one charge are lent, and spent later by others. They then have to
   * be charged now, where all processes count: not taken from what this process holds already, nor
   * granted by it while that store is away.
   */
  public Charges lend() {
    lending = true;
    return this;
  }

  /** Returns whether the permits are lent. */
  public boolean lending() {
    return lending;
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

  public Binding binding(int i) {
    return bindings[i];
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
   * Returns whether charge {@code i} passes although the store cannot tell whether it fits, because
   * its policy answers that with {@link FailureMode#ALLOW}. It is then counted nowhere.
   */
  public boolean forgiven(int i) {
    return switch (reasons[i]) {
      case UNCERTAIN, OVERLOADED, KEY_SPACE_FULL ->
          bindings[i].policy().sharing().onFailure() == FailureMode.ALLOW;
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
    Policy policy = bindings[i].policy();
    return new Decision(
        fits,
        reasons[i],
        policy.name(),
        policy.burst(),
        remaining(i),
        fits ? 0 : retryAfterNanos(i),
        resetAfterNanos(i),
        atNanos(i));
  }

  /**
   * Returns the decision on charge {@code i} for itself in one word, to be read by {@link
   * PackedDecision}; a {@link #forgiven} one is an admission with no permits left.
   */
  public long packed(int i) {
    return forgiven(i) ? 0 : PackedDecision.of(reasons[i], remaining(i), retryAfterNanos(i));
  }

  /**
   * For stores: folds what is known of every charge into {@link #allowed()}, the one place where
   * that is done. It reads each charge's {@link #reason} and {@link #role}, and its policy's {@link
   * Sharing#onFailure()}.
   *
   * <p>A charge <i>passes</i> if it {@linkplain #fits fits} or is {@linkplain #forgiven forgiven}.
   * The request is allowed if all of the following hold, and refused otherwise:
   *
   * <ul>
   *   <li>every {@link Role#REQUIRED} charge passes;
   *   <li>at least one {@link Role#ANY} charge passes, if there are any;
   *   <li>no {@link Role#OPTIONAL} charge is {@link Reason#INVALID}.
   * </ul>
   *
   * <p>A request without charges is allowed. If the request is allowed, a store charges what
   * {@linkplain #fits fits}, unless the request is {@link #peeking}; if it is refused, the store
   * charges nothing. A store that learns later that a charge cannot be made (there is no room) sets
   * its result and settles again, before it charges anything.
   *
   * @return {@link #allowed()}
   */
  public boolean settle() {
    boolean refused = false;
    boolean anyAsked = false;
    boolean anyPasses = false;
    for (int i = 0; i < size; i++) {
      boolean passes = fits(i) || forgiven(i);
      switch (roles[i]) {
        case REQUIRED -> refused |= !passes;
        case ANY -> {
          anyAsked = true;
          anyPasses |= passes;
        }
        case OPTIONAL -> refused |= reasons[i] == Reason.INVALID;
      }
    }
    allowed = !refused && (anyPasses || !anyAsked);
    return allowed;
  }

  /**
   * For stores that have the outcome from elsewhere, such as a script that folds the charges
   * itself: sets {@link #allowed()}. All others call {@link #settle}.
   */
  public void allowed(boolean allowed) {
    this.allowed = allowed;
  }

  /** For stores: sets the result of charge {@code i}; units and ranges as in {@link Decision}. */
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
