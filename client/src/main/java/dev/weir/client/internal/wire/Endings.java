package dev.weir.client.internal.wire;

import dev.weir.Ticker;
import dev.weir.client.internal.lease.Key;
import dev.weir.client.internal.lease.Lease;
import dev.weir.shared.Clocks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * The timer that gives back the rest of leases when they end. A lease that another replaces, or
 * whose key is removed, has been given back and is not kept here. Safe for use by many threads.
 */
public final class Endings {
  private record PendingEnd(Key key, Lease lease) {}

  /** The delay by which leases that end one after the other are given back in few messages. */
  private static final long SLACK_NANOS = 1_000_000L;

  private final Clocks clocks;
  private final TreeSet<PendingEnd> endings =
      new TreeSet<>(
          Comparator.comparingLong((PendingEnd each) -> each.lease.ends().nanos())
              .thenComparingLong(each -> each.lease.number));
  private boolean scheduled;
  private boolean closed;

  public Endings(Clocks clocks) {
    this.clocks = clocks;
  }

  public void add(Key key, Lease lease) {
    boolean late;
    synchronized (this) {
      late = closed;
      if (!late) {
        boolean unused = endings.add(new PendingEnd(key, lease));
      }
    }
    if (late) {
      key.end(lease);
    } else {
      schedule();
    }
  }

  public void remove(Key key, Lease lease) {
    synchronized (this) {
      boolean unused = endings.remove(new PendingEnd(key, lease));
    }
  }

  /** Returns the number of leases to be given back. */
  public synchronized int size() {
    return endings.size();
  }

  /**
   * Starts the one timer, for the first lease to end. A lease that ends earlier waits for it, but
   * its own clock has ended it.
   */
  private void schedule() {
    long wait;
    synchronized (this) {
      if (scheduled || closed || endings.isEmpty()) {
        return;
      }
      scheduled = true;
      wait = Math.max(0, endings.first().lease.ends().nanos() - clocks.nanos()) + SLACK_NANOS;
    }
    Ticker.ScheduledTask unused = clocks.monotonic().schedule(wait, this::end);
  }

  private void end() {
    List<PendingEnd> over = new ArrayList<>();
    synchronized (this) {
      scheduled = false;
      long now = clocks.nanos();
      while (!endings.isEmpty() && now - endings.first().lease.ends().nanos() >= 0) {
        over.add(endings.pollFirst());
      }
    }
    over.forEach(each -> each.key.end(each.lease));
    schedule();
  }

  /** Ends all leases now. */
  public void endAll() {
    List<PendingEnd> all;
    synchronized (this) {
      all = new ArrayList<>(endings);
      endings.clear();
    }
    all.forEach(each -> each.key.end(each.lease));
  }

  /** Ends all leases; later ones end at once. */
  public void close() {
    synchronized (this) {
      closed = true;
    }
    endAll();
  }
}
