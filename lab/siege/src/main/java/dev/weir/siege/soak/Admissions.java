package dev.weir.siege.soak;

import dev.weir.Reason;
import dev.weir.siege.SiegeRule;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;

/**
 * The admissions by each rule, kept as long as they can share a window with unanswered requests.
 * Safe for use by many threads.
 */
public final class Admissions {
  private final long lateNanos;
  private final Map<SiegeRule, Queue<Operation>> entered = new ConcurrentHashMap<>();

  // Guarded by this object's lock.
  private final Map<SiegeRule, List<Operation>> kept = new HashMap<>();

  /**
   * @param late the longest time between the beginning of an admission and its entry
   */
  public Admissions(Duration late) {
    lateNanos = late.toNanos();
  }

  public void add(SiegeRule rule, String key, int permits, long startNanos, long endNanos) {
    entered
        .computeIfAbsent(rule, first -> new ConcurrentLinkedQueue<>())
        .add(new Operation(key, permits, startNanos, endNanos, true, Reason.WITHIN_LIMIT));
  }

  /** Checks each rule's admissions, including kept ones that were checked before. */
  public synchronized void check(BiConsumer<SiegeRule, List<Operation>> check) {
    long now = System.nanoTime();
    entered.forEach(
        (rule, queue) -> {
          List<Operation> operations = kept.computeIfAbsent(rule, first -> new ArrayList<>());
          for (Operation next = queue.poll(); next != null; next = queue.poll()) {
            operations.add(next);
          }
          check.accept(rule, operations);
          long oldest = now - rule.window().toNanos() - lateNanos;
          operations.removeIf(each -> each.startNanos() - oldest < 0);
        });
  }
}
