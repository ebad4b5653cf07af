package dev.weir.siege.soak;

import dev.weir.siege.SiegeRule;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.FullestWindow;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A comparison of all admissions of a soak with the promises of the rules.
 *
 * <p>A Redis that is killed or flushed loses its counters, and admits up to the quota once more:
 * this is documented, and not an error. So admissions that were certainly decided between two such
 * losses are compared with the limit alone, and all admissions together with the limit plus one
 * more limit for each loss that a window can hold. Safe for use by many threads.
 */
public final class WindowWatch {
  /** The longest time after its end within which an admission is entered. */
  private static final Duration LATE = Duration.ofSeconds(2);

  /** The time in which a loss may have happened. */
  private record Loss(long fromNanos, long toNanos) {}

  private final Admissions admissions = new Admissions(LATE);
  private final List<Loss> losses = new CopyOnWriteArrayList<>();
  private volatile long lossSince = Long.MAX_VALUE;

  /** Enters an admission. */
  public void admitted(SiegeRule rule, String key, long startNanos, long endNanos) {
    admissions.add(rule, key, 1, startNanos, endNanos);
  }

  /** Begins a time in which Redis may lose its counters. */
  public void lossBegins() {
    lossSince = System.nanoTime();
  }

  /** Ends the time in which Redis may lose its counters. */
  public void lossEnds() {
    losses.add(new Loss(lossSince, System.nanoTime()));
    lossSince = Long.MAX_VALUE;
  }

  /** Checks the admissions since the last call; returns the broken promises. */
  synchronized List<String> check() {
    List<Loss> known = new ArrayList<>(losses);
    if (lossSince != Long.MAX_VALUE) {
      known.add(new Loss(lossSince, Long.MAX_VALUE - TimeUnit.DAYS.toNanos(1)));
    }
    Set<String> broken = new LinkedHashSet<>();
    admissions.check(
        (rule, operations) -> check(rule, operations, rule.shared() ? known : List.of(), broken));
    return List.copyOf(broken);
  }

  private static void check(
      SiegeRule rule, List<Operation> operations, List<Loss> losses, Set<String> broken) {
    Map<Integer, List<Operation>> between = new HashMap<>();
    for (Operation operation : operations) {
      int before = 0;
      boolean clear = true;
      for (Loss loss : losses) {
        boolean after = operation.startNanos() > loss.toNanos + rule.leaseNanos();
        clear &= after || operation.endNanos() < loss.fromNanos;
        before += after ? 1 : 0;
      }
      if (clear) {
        between.computeIfAbsent(before, first -> new ArrayList<>()).add(operation);
      }
    }
    long limit = rule.permits() + rule.beyond();
    between.values().forEach(each -> hold(rule, each, limit, broken));
    hold(rule, operations, limit + rule.permits() * mostLosses(rule, losses), broken);
  }

  private static void hold(
      SiegeRule rule, Collection<Operation> operations, long limit, Set<String> broken) {
    FullestWindow fullest = WindowChecker.fullest(operations, rule.window().toNanos());
    if (fullest.permits() > limit) {
      broken.add(
          "rule "
              + rule.name()
              + ", key "
              + fullest.key()
              + ": "
              + fullest.permits()
              + " permits in "
              + rule.window()
              + " (expected: at most "
              + limit
              + ")");
    }
  }

  /** Returns the number of losses that one window can hold. */
  private static long mostLosses(SiegeRule rule, List<Loss> losses) {
    long reach = rule.window().toNanos() + rule.leaseNanos();
    long most = 0;
    for (Loss first : losses) {
      most =
          Math.max(
              most,
              losses.stream()
                  .filter(
                      each ->
                          each.fromNanos >= first.fromNanos
                              && each.fromNanos - first.toNanos <= reach)
                  .count());
    }
    return most;
  }
}
