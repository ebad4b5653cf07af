package dev.weir.rules;

/**
 * The comparisons with wildcards that one call of a client may still cost. Each thread has one,
 * which only that thread uses.
 */
public final class MatchBudget {
  /*
   * Why is there a bound? A rule set may have 200,000 patterns on one level, and one call may bring
   * 10,000 values. An index finds the few patterns that a value can match, but patterns can be
   * written for which it does not help (*a*, *a*a*, ...). Their product would hold an event loop,
   * and with it all other clients of that loop.
   *
   * Why by thread? All requests of a call are matched on one thread, one after the other, by an
   * engine that does not know where a call of a transport begins. The transport does, and begins a
   * call here; a request outside of a call is a call of its own. A call ends before its answers are
   * passed on, because they may let the next call begin.
   */

  /**
   * The most steps of a call, some 50 ms. A step is a text of a pattern that is compared, or 16
   * characters that are compared or walked over.
   */
  public static final int MOST_STEPS = 2_000_000;

  /** The characters of one step, as a shift. */
  private static final int CHARACTERS_SHIFT = 4;

  private static final ThreadLocal<MatchBudget> BUDGETS = ThreadLocal.withInitial(MatchBudget::new);

  private boolean inCall;
  private long taken;

  private MatchBudget() {}

  /** Returns the budget of this thread. */
  public static MatchBudget ofThread() {
    return BUDGETS.get();
  }

  /** Begins a call with a whole budget. */
  public void begin() {
    inCall = true;
    taken = 0;
  }

  /** Ends the call. From then on there is no bound. */
  public void end() {
    inCall = false;
  }

  /** Returns whether a call has begun on this thread and has not ended. */
  public boolean isInCall() {
    return inCall;
  }

  /** Counts the comparison of a text in which that many characters were compared, from 0 up. */
  public void compared(int characters) {
    taken += 1 + (characters >> CHARACTERS_SHIFT);
  }

  /** Counts characters that were walked over, from 0 up. */
  public void walked(int characters) {
    taken += characters >> CHARACTERS_SHIFT;
  }

  /**
   * Returns whether the call has cost more than it may. Its requests have to be refused then: what
   * they match is not known.
   */
  public boolean isSpent() {
    return inCall && taken > MOST_STEPS;
  }

  /** Returns the steps of the call so far, or after its end, of the last one and all since. */
  public long taken() {
    return taken;
  }

  /** Returns the problem of a request whose call has spent its budget. */
  public static String problem() {
    return ValueErrors.line(
        "comparisons with wildcards",
        "more than " + MOST_STEPS + " in one call",
        "at most "
            + MOST_STEPS
            + ": fewer or shorter values in a call, or patterns that differ in a longer text");
  }
}
