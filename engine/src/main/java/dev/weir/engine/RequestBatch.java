package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.Reason;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one descriptor each that an {@link Engine} decides in one call, each for itself and
 * in their order, with the outcome of each. For a protocol that reads many requests at once.
 *
 * <p>It takes only requests that can be decided at once and in this process. They are decided as by
 * {@link Engine#decide(Request)}: the same answers, counts and observations. Reusable: most
 * requests allocate nothing. Not safe for use by several threads at once.
 */
public final class RequestBatch {
  /*
   * Why is a batch faster than its requests one by one? A request is matched when it is added, so
   * its rule and its texts are read while the processor has them. The keys of all are announced to
   * the store (Store.expect), which fetches their states together, before the first is decided. The
   * clock is read once for all. And if a charge alone decides a request (BoundRule.plain), neither
   * a Request nor an Answer is made: the results are read where the store has put them.
   *
   * All other requests that can be decided here become a Request and get an Answer, by the same
   * steps that Engine.decide takes. So there is one order of decisions for both kinds.
   */

  /** The most requests of one batch: more gain nothing, and each of them takes memory. */
  public static final int MAX_CAPACITY = 1 << 16;

  private final DecisionPath path;
  private final PendingRequest[] pending;
  private final Charges[] charges;
  private final @Nullable Answer[] answers;
  private int size;
  private int made;
  private long beganNanos;
  private boolean decided;

  RequestBatch(DecisionPath path, int capacity) {
    if (capacity < 1 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException(
          "capacity: " + capacity + " (expected: 1.." + MAX_CAPACITY + ")");
    }
    this.path = path;
    pending = new PendingRequest[capacity];
    charges = new Charges[capacity];
    answers = new Answer[capacity];
  }

  /** Returns the number of requests. */
  public int size() {
    return size;
  }

  /** Returns whether there is no room for another request. */
  public boolean isFull() {
    return size == pending.length;
  }

  /**
   * Adds a request of one descriptor. It is decided by the rules that are in force now.
   *
   * @param keysAndValues the key of each entry with its value behind it; not kept
   * @param count how many of them there are, an even number of at least 2
   * @param permits the permits that it requests, 0 to peek
   * @return whether it was added. If not, it cannot be decided at once: {@link
   *     Engine#decide(Request, java.util.function.Consumer)} can, after this batch
   * @throws IllegalStateException if the batch is full or decided
   * @throws IllegalArgumentException if {@code count} is not such a number
   */
  public boolean add(String domain, String[] keysAndValues, int count, long permits) {
    if (decided || isFull()) {
      throw new IllegalStateException(
          "batch: " + (decided ? "decided" : "full") + " (expected: one with room)");
    }
    if (count < 2 || count > keysAndValues.length || count % 2 != 0) {
      throw new IllegalArgumentException(
          "count: " + count + " (expected: an even number, 2.." + keysAndValues.length + ")");
    }
    if (size == 0) {
      beganNanos = path.ticker.nanos();
    }
    if (size == made) {
      pending[made] = new PendingRequest();
      charges[made] = pending[made].charges();
      made++;
    }
    PendingRequest next = pending[size];
    next.clear(); // An earlier request may have failed halfway.
    if (!path.match(next, domain, keysAndValues, count, permits, beganNanos)) {
      return false;
    }
    size++;
    return true;
  }

  /** Returns a request that is equal to one that {@link #add} takes in its parts. */
  public static Request request(String domain, String[] keysAndValues, int count, long permits) {
    // The descriptor's own permits, since 0 permits of a request mean 1.
    return new Request(domain, List.of(descriptor(keysAndValues, count, permits)), 1);
  }

  public static Descriptor descriptor(String[] keysAndValues, int count, long permits) {
    List<Entry> entries = new ArrayList<>(count / 2);
    for (int i = 0; i < count; i += 2) {
      entries.add(new Entry(keysAndValues[i], keysAndValues[i + 1]));
    }
    return new Descriptor(entries, null, permits);
  }

  /**
   * Decides all requests.
   *
   * @throws IllegalStateException if they are decided already
   */
  public void decide() {
    if (decided) {
      throw new IllegalStateException("batch: decided (expected: cleared before)");
    }
    decided = true;
    path.decide(this, beganNanos);
  }

  /** Removes all requests, ready for the next ones. */
  public void clear() {
    for (int i = 0; i < size; i++) {
      pending[i].clear();
      answers[i] = null;
    }
    size = 0;
    decided = false;
  }

  /**
   * Returns whether request {@code i} is decided by one limit alone, so that no objects are made
   * for it: there is a {@link #limit}, and no {@link #error}. Known as soon as it is added.
   */
  public boolean isPlain(int i) {
    return pending[i].isPlain();
  }

  PendingRequest pending(int i) {
    return pending[i];
  }

  /** Returns the charges of all requests, and perhaps of others behind them. */
  Charges[] charges() {
    return charges;
  }

  /** Returns the answer that was made for request {@code i}, or null if its charge has it. */
  @Nullable Answer made(int i) {
    return answers[i];
  }

  void made(int i, Answer answer) {
    answers[i] = answer;
  }

  /**
   * Returns the answer to request {@code i}, which is decided. It is made now if the request {@link
   * #isPlain}; its parts can be read without it.
   */
  public Answer answer(int i) {
    Answer answer = answers[i];
    return answer == null ? path.answerPlain(pending[i]) : answer;
  }

  private @Nullable Status status(int i) {
    Answer answer = answers[i];
    return answer == null || answer.statuses().isEmpty() ? null : answer.statuses().get(0);
  }

  /** Returns why request {@code i} could not be decided, or null; see {@link Answer#error}. */
  public @Nullable String error(int i) {
    Answer answer = answers[i];
    return answer == null ? null : answer.error();
  }

  /** Returns whether request {@code i} may pass. */
  public boolean allowed(int i) {
    Answer answer = answers[i];
    return answer == null ? pending[i].charges().allowed() || path.onlyWatches() : answer.allowed();
  }

  /**
   * Returns whether the descriptor of request {@code i} lets it pass; see {@link Status#allowed}.
   */
  public boolean passes(int i) {
    if (answers[i] == null) {
      Charges charges = pending[i].charges();
      return charges.fits(0) || charges.forgiven(0);
    }
    Status status = status(i);
    return status != null && status.allowed();
  }

  /** Returns the limit of request {@code i}, or null if nothing limits it. */
  public @Nullable CurrentLimit limit(int i) {
    Status status = status(i);
    return answers[i] == null ? pending[i].limit(0) : status == null ? null : status.currentLimit();
  }

  /** Returns the reason for the answer to request {@code i}; see {@link Status#reason}. */
  public Reason reason(int i) {
    Status status = status(i);
    return answers[i] == null
        ? pending[i].charges().reason(0)
        : status == null ? Reason.INVALID : status.reason();
  }

  /** Returns the permits left after request {@code i}; see {@link Status#limitRemaining}. */
  public long remaining(int i) {
    Status status = status(i);
    return answers[i] == null
        ? pending[i].charges().remaining(0)
        : status == null ? 0 : status.limitRemaining();
  }

  /**
   * Returns the wait after a refusal of request {@code i}; see {@link
   * dev.weir.Decision#retryAfterNanos}.
   */
  public long retryAfterNanos(int i) {
    if (answers[i] == null) {
      Charges charges = pending[i].charges();
      return charges.fits(0) || charges.forgiven(0) ? 0 : charges.retryAfterNanos(0);
    }
    Status status = status(i);
    return status == null || status.decision() == null ? 0 : status.decision().retryAfterNanos();
  }

  /**
   * Returns the time until the key of request {@code i} is unused; see {@link
   * dev.weir.Decision#resetAfterNanos}.
   */
  public long resetAfterNanos(int i) {
    if (answers[i] == null) {
      return pending[i].charges().resetAfterNanos(0);
    }
    Status status = status(i);
    return status == null || status.decision() == null ? 0 : status.decision().resetAfterNanos();
  }

  /** Returns whole seconds for request {@code i}; see {@link Status#durationUntilResetSeconds}. */
  public long untilResetSeconds(int i) {
    CurrentLimit limit = limit(i);
    if (answers[i] != null || limit == null) {
      Status status = status(i);
      return status == null ? 0 : status.durationUntilResetSeconds();
    }
    Charges charges = pending[i].charges();
    return Status.untilReset(
        !charges.fits(0) && !(charges.allowed() && charges.forgiven(0)),
        charges.forgiven(0),
        charges.retryAfterNanos(0),
        charges.resetAfterNanos(0),
        limit.policy());
  }
}
