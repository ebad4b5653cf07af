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
 * length of a window has a name in the store, and keeps it until the end of the process.
 */
public final class CallerWindows {
  /*
   * Why a name for each length of a window? A state is the admissions of one window; with one
   * name, a key would be counted anew by each other window that comes. Names cost memory, and
   * clients choose windows, so their number has a bound. It is a bound on lengths alone: a key is
   * counted by as many of them as requests for it have.
   */

  /** The most lengths of windows. */
  public static final int MAX_WINDOWS = 256;

  private final Store store;
  private final String name;
  private final RecentBindings bindings = new RecentBindings(this::make);

  /** The binding of each length of a window, in nanoseconds. Guarded by itself. */
  private final Map<Long, Binding> windows = new HashMap<>();

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
      Binding known = windows.get(windowNanos);
      if (known == null) {
        if (windows.size() >= MAX_WINDOWS) {
          throw new IllegalArgumentException(
              "window: "
                  + Duration.ofNanos(windowNanos).toMillis()
                  + " ms (expected: one of at most "
                  + MAX_WINDOWS
                  + " lengths that all callers have together)");
        }
        known = store.bind(name + ", " + windowNanos + " ns", policy, nowNanos);
        windows.put(windowNanos, known);
      }
      return known;
    }
  }

  /** Returns the bindings of all lengths that there are. */
  public List<Binding> all() {
    synchronized (windows) {
      return new ArrayList<>(windows.values());
    }
  }
}
