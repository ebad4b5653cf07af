package dev.weir;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request as a store receives it, and its answer: charges that are made all together or not at
 * all. Reusable; not safe for use by several threads at once.
 */
public final class Charges {
  /*
   * How does a decision allocate nothing? One charge is usual, so that the arrays begin with room
   * for one, and grow; the numbers of all charges are in one array, WIDTH of them for each. A
   * caller clears the object and uses it again, so it does not become garbage.
   *
   * References are written only where they change, since each such write costs a collector's
   * barrier. Causes, which few results have, are there only while there is one, so that a request
   * without any carries one null.
   */

  /** The effect of one charge's answer on the answer to the whole request. */
  public enum Role {
    /** It must fit. */
    REQUIRED,
    /** At least one of all charges with this role must fit. Those that fit are charged. */
    ANY,
    /** It is charged if it fits, and never refuses the request: a shadow. */
    OPTIONAL,
    /**
     * A report: its permits are counted whatever is left, even if the request is refused. What is
     * beyond the limit is a debt, and refuses the request. A report of 0 permits is a question,
     * which refuses the request where not even one permit is left.
     */
    REPORTED,
    /** A report that never refuses the request: the shadow of one. */
    REPORTED_SHADOW;

    /** Returns whether permits with this role are counted whatever is left. */
    public boolean isReport() {
      return this == REPORTED || this == REPORTED_SHADOW;
    }
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

  /** The causes of results without a decision; null while there is none, which is usual. */
  private String @Nullable [] causes;

  private int size;
  private long maxWaitNanos;
  private boolean queued;
  private boolean peeking;
  private boolean lending;
  private boolean anyReports;
  private boolean allowed;

  /** Removes all charges, ready for the next request. */
  public Charges clear() {
    Arrays.fill(bindings, 0, size, null);
    size = 0;
    maxWaitNanos = 0;
    queued = false;
    peeking = false;
    lending = false;
    anyReports = false;
    allowed = false;
    causes = null;
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
    set(roles, size, Check.notNull("role", role));
    anyReports |= role.isReport();
    values[size * WIDTH + FINGERPRINT] = fingerprint;
    values[size * WIDTH + PERMITS] = permits;
    size++;
    return this;
  }

  /** Makes the request a peek, which is decided without charging. */
  public Charges peek() {
    peeking = true;
    return this;
  }

  /**
   * Marks the permits of the one charge as lent: others spend them later. They then have to be
   * charged now, where all processes count: not taken from permits that this process holds already,
   * nor granted by it while that store is away.
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
   * Allows a request of one charge to wait: it is charged for the instant at which it fits, if that
   * is at most {@code nanos} nanoseconds away.
   *
   * @throws IllegalStateException if there is not exactly one charge, or it is a report
   */
  public Charges maxWait(long nanos) {
    if (size != 1 || anyReports) {
      throw new IllegalStateException(
          "charges: " + size + (anyReports ? ", a report" : "") + " (expected: 1 that can wait)");
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

  /** Returns the array of the bindings, which has room for more. */
  Binding[] bindings() {
    return bindings;
  }

  /** Returns whether all charges are of one key and as many permits, and must fit. */
  boolean areQuotasOfOneKey() {
    for (int i = 0; i < size; i++) {
      if (fingerprint(i) != fingerprint(0)
          || permits(i) != permits(0)
          || permits(i) < 0
          || roles[i] != Role.REQUIRED) {
        return false;
      }
    }
    return !queued;
  }

  /** Changes the permits of charge {@code i}, before the request is decided. */
  public void permits(int i, long permits) {
    values[i * WIDTH + PERMITS] = permits;
  }

  /** Changes the role of charge {@code i}, before the request is decided or decided again. */
  public void role(int i, Role role) {
    roles[i] = Check.notNull("role", role);
    anyReports |= role.isReport();
  }

  /** Returns whether there may be charges whose role is a {@linkplain Role#isReport report}. */
  public boolean anyReports() {
    return anyReports;
  }

  /**
   * Returns whether charge {@code i} is counted, once the request is decided: it fits and the whole
   * request is allowed, or it is a report that could be decided. The permits of a peek are not.
   */
  public boolean counted(int i) {
    if (peeking || permits(i) <= 0) {
      return false;
    }
    return roles[i].isReport()
        ? reasons[i] == Reason.WITHIN_LIMIT || reasons[i] == Reason.OVER_LIMIT
        : allowed && fits(i);
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

  /** Returns whether the whole request may pass. */
  public boolean allowed() {
    return allowed;
  }

  /** Returns whether charge {@code i} fits by itself. */
  public boolean fits(int i) {
    return reasons[i] == Reason.WITHIN_LIMIT;
  }

  public Reason reason(int i) {
    return reasons[i];
  }

  /** Returns the cause of the result of charge {@code i}, as {@link Decision#cause()}. */
  public String cause(int i) {
    return causes == null || i >= causes.length ? "" : causes[i];
  }

  /**
   * Returns the permits left after charge {@code i}, as {@link Decision#remaining()}; negative
   * after a report that has left a debt.
   */
  public long remaining(int i) {
    return values[i * WIDTH + REMAINING];
  }

  /**
   * Returns the retry-after of charge {@code i}, as {@link Decision#retryAfterNanos()}; for a
   * charge that waits, its wait from now on.
   */
  public long retryAfterNanos(int i) {
    return values[i * WIDTH + RETRY_AFTER];
  }

  /** Returns the reset-after of charge {@code i}, as {@link Decision#resetAfterNanos()}. */
  public long resetAfterNanos(int i) {
    return values[i * WIDTH + RESET_AFTER];
  }

  /** Returns the instant of charge {@code i}, as {@link Decision#atNanos()}. */
  public long atNanos(int i) {
    return values[i * WIDTH + AT];
  }

  /**
   * Returns whether charge {@code i} passes although the store cannot decide whether it fits,
   * because its policy's answer is then {@link FailureMode#ALLOW}. It is not counted anywhere.
   */
  public boolean forgiven(int i) {
    return switch (reasons[i]) {
      case UNCERTAIN, OVERLOADED, KEY_SPACE_FULL ->
          bindings[i].policy().sharing().onFailure() == FailureMode.ALLOW;
      default -> false;
    };
  }

  /**
   * Returns the decision on charge {@code i} by itself. It is allowed if the charge fits, even if
   * the whole request was refused because of another charge and nothing was charged; or if the
   * charge is {@link #forgiven} and the whole request is allowed.
   */
  public Decision decision(int i) {
    return decision(i, bindings[i].policy(), fits(i) || (allowed && forgiven(i)));
  }

  /** Returns the decision on charge {@code i}, for a policy that need not be of its binding. */
  Decision decision(int i, Policy policy, boolean fits) {
    return new Decision(
        fits,
        reasons[i],
        cause(i),
        policy.name(),
        policy.burst(),
        remaining(i),
        fits ? 0 : retryAfterNanos(i),
        resetAfterNanos(i),
        atNanos(i),
        List.of());
  }

  /**
   * Returns the decision on charge {@code i} by itself in one word, to be read by {@link
   * PackedDecision}; a {@link #forgiven} one is an admission with no permits left.
   */
  public long packed(int i) {
    return forgiven(i) ? 0 : PackedDecision.of(reasons[i], remaining(i), retryAfterNanos(i));
  }

  /**
   * For stores: computes {@link #allowed()} from the results of all charges; this is the only place
   * where that is done. It reads each charge's {@link #reason} and {@link #role}, and its policy's
   * {@link Sharing#onFailure()}.
   *
   * <p>A charge <i>passes</i> if it {@linkplain #fits fits} or is {@linkplain #forgiven forgiven}.
   * The request is allowed if all of the following hold, and refused otherwise:
   *
   * <ul>
   *   <li>every {@link Role#REQUIRED} and every {@link Role#REPORTED} charge passes;
   *   <li>at least one {@link Role#ANY} charge passes, if there are any;
   *   <li>no {@link Role#OPTIONAL} or {@link Role#REPORTED_SHADOW} charge is {@link
   *       Reason#INVALID}.
   * </ul>
   *
   * <p>A request without charges is allowed. If the request is allowed, a store charges what
   * {@linkplain #fits fits}, unless the request is {@link #peeking}; if it is refused, the store
   * charges nothing but {@linkplain Role#isReport reports}. If it turns out later that a charge
   * cannot be made because there is no room, the store sets that charge's result and settles again
   * before it charges anything.
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
        case REQUIRED, REPORTED -> refused |= !passes;
        case ANY -> {
          anyAsked = true;
          anyPasses |= passes;
        }
        case OPTIONAL, REPORTED_SHADOW -> refused |= reasons[i] == Reason.INVALID;
      }
    }
    allowed = !refused && (anyPasses || !anyAsked);
    return allowed;
  }

  /**
   * For stores that receive the outcome, for example from a script that settles the charges itself:
   * sets {@link #allowed()}. All others call {@link #settle}.
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
    set(reasons, i, reason);
    values[i * WIDTH + REMAINING] = remaining;
    values[i * WIDTH + RETRY_AFTER] = retryAfterNanos;
    values[i * WIDTH + RESET_AFTER] = resetAfterNanos;
    values[i * WIDTH + AT] = atNanos;
    if (causes != null && i < causes.length) {
      causes[i] = "";
    }
  }

  /** For stores: sets the result of charge {@code i} to that of charge {@code j} of others. */
  public void result(int i, Charges others, int j) {
    result(
        i,
        others.reason(j),
        others.remaining(j),
        others.retryAfterNanos(j),
        others.resetAfterNanos(j),
        others.atNanos(j));
    cause(i, others.cause(j));
  }

  /** For stores: sets the {@link Decision#cause() cause} of charge {@code i}, after its result. */
  public void cause(int i, String cause) {
    if (Check.notNull("cause", cause).isEmpty()) {
      return;
    }
    String[] all = causes;
    if (all == null || all.length <= i) {
      int old = all == null ? 0 : all.length;
      all = Arrays.copyOf(all == null ? new String[0] : all, bindings.length);
      Arrays.fill(all, old, all.length, "");
      causes = all;
    }
    all[i] = cause;
  }

  /**
   * Sets an element, unless it is that one already: a reference that is written costs a garbage
   * collector's barrier, and most are those of the request before.
   */
  private static <T> void set(T[] elements, int i, T element) {
    if (elements[i] != element) {
      elements[i] = element;
    }
  }
}
