package dev.weir.testkit;

import dev.weir.Decision;
import dev.weir.Reason;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A checker of a history of requests against the promise of a limit: no window {@code (t - W, t]}
 * holds more than N admitted permits of one key.
 *
 * <p>A history shows only that a request was decided between its start and its answer. A window
 * <i>certainly</i> contains a set of requests if it contains them wherever in those intervals they
 * were decided: if the latest end is less than W after the earliest start.
 */
public final class WindowChecker {
  /**
   * A request and its answer.
   *
   * @param startNanos not after the instant of the decision
   * @param endNanos not before it
   */
  public record Operation(
      String key, long permits, long startNanos, long endNanos, boolean allowed, Reason reason) {

    /** Returns an operation whose instant is known, for example from {@link Decision#atNanos}. */
    public static Operation at(String key, long permits, Decision decision) {
      return new Operation(
          key,
          permits,
          decision.atNanos(),
          decision.atNanos(),
          decision.allowed(),
          decision.reason());
    }

    /** Returns an admission at an instant. */
    public static Operation admitted(String key, long permits, long atNanos) {
      return new Operation(key, permits, atNanos, atNanos, true, Reason.WITHIN_LIMIT);
    }
  }

  /**
   * The fullest window.
   *
   * @param permits the permits certainly admitted in it; 0 if nothing was admitted at all
   */
  public record FullestWindow(String key, long permits, long fromNanos, long toNanos) {}

  private WindowChecker() {}

  /** Returns how many permits more than the limit some window certainly holds, at least 0. */
  public static long certainExcess(
      Collection<Operation> history, long windowNanos, long limitPermits) {
    return Math.max(0, maxInAnyWindow(history, windowNanos) - limitPermits);
  }

  /** Returns the most permits of one key that any window of that length certainly holds. */
  public static long maxInAnyWindow(Collection<Operation> history, long windowNanos) {
    return fullest(history, windowNanos).permits();
  }

  /** Returns the window that certainly holds the most permits of one key. */
  public static FullestWindow fullest(Collection<Operation> history, long windowNanos) {
    if (windowNanos < 1) {
      throw new IllegalArgumentException("windowNanos: " + windowNanos + " (expected: at least 1)");
    }
    Map<String, List<Operation>> byKey = new HashMap<>();
    for (Operation operation : history) {
      if (operation.endNanos() < operation.startNanos()) {
        throw new IllegalArgumentException("operation: " + operation + " (expected: start <= end)");
      }
      if (operation.allowed() && operation.permits() > 0) {
        byKey.computeIfAbsent(operation.key(), key -> new ArrayList<>()).add(operation);
      }
    }
    FullestWindow fullest = new FullestWindow("", 0, 0, 0);
    for (Map.Entry<String, List<Operation>> entry : byKey.entrySet()) {
      FullestWindow ofKey = sweep(entry.getKey(), entry.getValue(), windowNanos);
      fullest = ofKey.permits() > fullest.permits() ? ofKey : fullest;
    }
    return fullest;
  }

  /** An admission, and its side of the sweep. */
  private static final class Swept {
    final Operation operation;
    boolean inside;
    boolean over;

    Swept(Operation operation) {
      this.operation = operation;
    }
  }

  /**
   * Moves a window's first instant through all starts. One pointer removes the requests that start
   * before it, the other adds those that end less than a window after it, unless they are already
   * removed.
   */
  private static FullestWindow sweep(String key, List<Operation> admitted, long window) {
    List<Swept> byStart = new ArrayList<>(admitted.stream().map(Swept::new).toList());
    List<Swept> byEnd = new ArrayList<>(byStart);
    byStart.sort(Comparator.comparingLong(swept -> swept.operation.startNanos()));
    byEnd.sort(Comparator.comparingLong(swept -> swept.operation.endNanos()));
    FullestWindow fullest = new FullestWindow(key, 0, 0, 0);
    long permits = 0;
    int in = 0;
    int out = 0;
    for (Swept first : byStart) {
      long from = first.operation.startNanos();
      for (; byStart.get(out).operation.startNanos() < from; out++) {
        Swept swept = byStart.get(out);
        swept.over = true;
        permits -= swept.inside ? swept.operation.permits() : 0;
      }
      for (; in < byEnd.size() && byEnd.get(in).operation.endNanos() < from + window; in++) {
        Swept swept = byEnd.get(in);
        swept.inside = !swept.over;
        permits += swept.inside ? swept.operation.permits() : 0;
      }
      if (permits > fullest.permits()) {
        fullest = new FullestWindow(key, permits, from, from + window - 1);
      }
    }
    return fullest;
  }
}
