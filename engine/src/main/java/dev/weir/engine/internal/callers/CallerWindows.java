package dev.weir.engine.internal.callers;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sliding windows of callers: each request comes with its own limit and window. Safe for use by
 * many threads.
 *
 * <p>Requests for a key that have the same window count together, whatever their limits. Each
 * length of a window has a name in the store.
 */
public final class CallerWindows {
  /*
   * Why a name for each length of a window? A state is the admissions of one window; with one
   * name, a key would be counted anew by each other window that comes. Names cost memory, and
   * clients choose windows, so their number has a bound. It is a bound on lengths alone: a key is
   * counted by as many of them as requests for it have.
   *
   * At the bound, lengths are given up that have not been used for as long as their windows can
   * matter. Uses are seen only when a binding is made, so all bindings are forgotten then, and
   * those still in use are made again at once. A thread may put one back that it has just read, and
   * its length then seems to be unused. That admits nothing extra: a binding of a name that was
   * given up counts with those of the same name that are made later.
   */

  /** The most lengths of windows. */
  public static final int MAX_WINDOWS = 256;

  /** The shortest time between two searches for lengths to give up. */
  private static final long SEARCH_NANOS = 1_000_000_000L;

  private static final class Length {
    final String name;
    final Binding binding;

    /** True if it has been used since the last search. */
    boolean used = true;

    /** The instant of the search after which it was not used. */
    long unusedSinceNanos;

    Length(String name, Binding binding) {
      this.name = name;
      this.binding = binding;
    }
  }

  private final Store store;
  private final String name;
  private final RecentBindings bindings = new RecentBindings(this::make);

  /** The lengths of windows, in nanoseconds. Guarded by itself, like the next field. */
  private final Map<Long, Length> windows = new HashMap<>();

  private long searchedNanos = Long.MIN_VALUE;

  /**
   * Creates windows in a store.
   *
   * @param name the beginning of the names that the store gets
   */
  public CallerWindows(Store store, String name) {
    this.store = store;
    this.name = name;
  }

  /**
   * Returns the window with those numbers, to which keys are charged.
   *
   * @throws IllegalArgumentException if the numbers make no window, or if it would be one more than
   *     {@link #MAX_WINDOWS} lengths; the message has the reason
   */
  public Binding window(long limit, long windowNanos, long nowNanos) {
    return bindings.of(limit, windowNanos, 0, nowNanos);
  }

  private Binding make(long limit, long windowNanos, long unused, long nowNanos) {
    Policy policy =
        Policy.builder(new Quota(limit, windowNanos))
            .name(name)
            .algorithm(Algorithm.SLIDING_WINDOW_BUCKETS)
            .build();
    return store.variant(ofLength(windowNanos, policy, nowNanos), policy);
  }

  private Binding ofLength(long windowNanos, Policy policy, long nowNanos) {
    synchronized (windows) {
      Length known = windows.get(windowNanos);
      if (known == null) {
        if (windows.size() >= MAX_WINDOWS) {
          giveUp(nowNanos);
        }
        if (windows.size() >= MAX_WINDOWS) {
          throw new IllegalArgumentException(
              "window: "
                  + Duration.ofNanos(windowNanos).toMillis()
                  + " ms (expected: one of at most "
                  + MAX_WINDOWS
                  + " lengths that all callers have together)");
        }
        String named = name + ", " + windowNanos + " ns";
        known = new Length(named, store.bind(named, policy, nowNanos));
        windows.put(windowNanos, known);
      }
      known.used = true;
      return known.binding;
    }
  }

  /** Gives up the lengths that have not been used for as long as their counts can matter. */
  private void giveUp(long nowNanos) {
    if (searchedNanos != Long.MIN_VALUE && nowNanos - searchedNanos < SEARCH_NANOS) {
      return;
    }
    searchedNanos = nowNanos;
    bindings.forget();
    windows
        .values()
        .removeIf(
            each -> {
              if (each.used) {
                each.used = false;
                each.unusedSinceNanos = nowNanos;
                return false;
              }
              long memory = each.binding.policy().shape().memoryNanos();
              boolean over = nowNanos - each.unusedSinceNanos > memory;
              if (over) {
                store.retire(each.name, nowNanos);
              }
              return over;
            });
  }

  /** Returns the bindings of all lengths that there are. */
  public List<Binding> all() {
    synchronized (windows) {
      return new ArrayList<>(windows.values().stream().map(each -> each.binding).toList());
    }
  }
}
