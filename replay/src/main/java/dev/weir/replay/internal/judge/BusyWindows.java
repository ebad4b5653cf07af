package dev.weir.replay.internal.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * A counter that finds the busiest windows. Each is of one key, as long as its policy's window, and
 * aligned to multiples of that; they are ranked by the permits requested.
 *
 * <p>Time only grows here, so each key has one open window, and closed windows are final. The
 * result is exact as long as at most {@code capacity} keys have a window open at once. Further keys
 * are left out, and {@link #complete} is then false.
 */
public final class BusyWindows {
  /** A window. Times in nanoseconds, since the Unix epoch for the start. */
  public record Window(RuleKey key, long startNanos, long permits, long requests, long denied) {}

  /** An order by permits, the least busy first; of equals the later one, then by text backwards. */
  private static final Comparator<Window> ORDER =
      Comparator.comparingLong(Window::permits)
          .thenComparing(Comparator.comparingLong(Window::startNanos).reversed())
          .thenComparing(Comparator.comparing((Window w) -> w.key.key()).reversed())
          .thenComparing(Comparator.comparing((Window w) -> w.key.rule().path()).reversed());

  private static final class OpenWindow {
    private final long windowNanos;
    private long startNanos;
    private long permits;
    private long requests;
    private long denied;

    OpenWindow(long windowNanos) {
      this.windowNanos = windowNanos;
    }

    Window window(RuleKey key) {
      return new Window(key, startNanos, permits, requests, denied);
    }
  }

  private final int most;
  private final int capacity;
  private final Map<RuleKey, OpenWindow> open = new HashMap<>();
  private final PriorityQueue<Window> busiest = new PriorityQueue<>(ORDER);
  private int triesSinceSweep;
  private boolean complete = true;

  public BusyWindows(int most, int capacity) {
    this.most = most;
    this.capacity = capacity;
  }

  /** Counts a request. {@code nowNanos} never goes back. */
  public void add(RuleKey key, long windowNanos, long nowNanos, long permits, boolean denied) {
    long startNanos = nowNanos - Math.floorMod(nowNanos, windowNanos);
    OpenWindow window = open.get(key);
    if (window == null) {
      if (open.size() >= capacity && !sweep(nowNanos)) {
        complete = false;
        return;
      }
      window = new OpenWindow(windowNanos);
      window.startNanos = startNanos;
      open.put(key, window);
    } else if (window.startNanos != startNanos) {
      offer(key, window);
      window.startNanos = startNanos;
      window.permits = 0;
      window.requests = 0;
      window.denied = 0;
    }
    long sum = window.permits + permits;
    window.permits = sum < 0 ? Long.MAX_VALUE : sum;
    window.requests++;
    window.denied += denied ? 1 : 0;
  }

  private void offer(RuleKey key, OpenWindow closed) {
    if (busiest.size() == most) {
      Window least = busiest.element();
      if (closed.permits < least.permits || ORDER.compare(closed.window(key), least) < 0) {
        return;
      }
      busiest.remove();
    }
    busiest.add(closed.window(key));
  }

  /** Removes closed windows, seldom enough to cost little. Returns whether there is room. */
  private boolean sweep(long nowNanos) {
    if (triesSinceSweep > 0) {
      triesSinceSweep = triesSinceSweep > capacity / 4 ? 0 : triesSinceSweep + 1;
      return false;
    }
    Iterator<Map.Entry<RuleKey, OpenWindow>> entries = open.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<RuleKey, OpenWindow> entry = entries.next();
      if (entry.getValue().startNanos + entry.getValue().windowNanos <= nowNanos) {
        offer(entry.getKey(), entry.getValue());
        entries.remove();
      }
    }
    triesSinceSweep = open.size() <= capacity - capacity / 4 ? 0 : 1;
    return open.size() < capacity;
  }

  /** Closes all windows and returns the busiest, the busiest first. */
  public List<Window> finish() {
    open.forEach(this::offer);
    open.clear();
    List<Window> windows = new ArrayList<>(busiest);
    windows.sort(ORDER.reversed());
    return List.copyOf(windows);
  }

  public boolean complete() {
    return complete;
  }
}
