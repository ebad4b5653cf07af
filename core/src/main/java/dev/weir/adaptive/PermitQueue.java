package dev.weir.adaptive;

import dev.weir.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for permits, in the order in which they came. Safe for use by many
 * threads.
 */
final class PermitQueue {
  /*
   * Why does no wake-up get lost? A request is counted as waiting by the same compare-and-set that
   * finds no room for it, and under the lock. A permit that is given back after that, or a limit
   * that rises, sees the count, takes the lock, and finds the request in the queue.
   *
   * Futures are completed without the lock. A dependent may end its permit at once, which grants
   * the next: these are completed by the outermost call of the thread, in a loop, so that a long
   * queue does not become a deep stack.
   */

  /** A request that waits. */
  private static final class Waiter {
    final CompletableFuture<AdaptivePermit> answer = new CompletableFuture<>();
    Ticker.@Nullable ScheduledTask timeout;
  }

  /** A request that waits no longer, with its answer. */
  private record Reply(Waiter waiter, AdaptivePermit permit) {}

  private final AdaptiveLimiter limiter;
  private final PermitCount count;
  private final int maxWaiting;
  private final ReentrantLock lock = new ReentrantLock();

  /** Guarded by the lock, as the waiters' fields are. */
  private final Set<Waiter> waiters = new LinkedHashSet<>();

  /** The replies of a thread's outermost call that are still to be given, of all limiters. */
  private static final ThreadLocal<@Nullable Deque<Reply>> COMPLETING = new ThreadLocal<>();

  PermitQueue(AdaptiveLimiter limiter, PermitCount count, int maxWaiting) {
    this.limiter = limiter;
    this.count = count;
    this.maxWaiting = maxWaiting;
  }

  /** Takes a permit now, or within a timeout after all requests that came before. */
  CompletableFuture<AdaptivePermit> join(long timeoutNanos) {
    Waiter waiter = new Waiter();
    lock.lock();
    try {
      int out = count.takeOrWait(maxWaiting);
      if (out != 0) {
        return CompletableFuture.completedFuture(out > 0 ? limiter.permit(out) : limiter.refused());
      }
      waiters.add(waiter);
      waiter.timeout = limiter.ticker().schedule(timeoutNanos, () -> timedOut(waiter));
    } finally {
      lock.unlock();
    }
    CompletableFuture<Void> unused =
        waiter.answer.handle(
            (permit, error) -> {
              if (error != null) { // Cancelled by the caller.
                boolean unusedLeft = leave(waiter);
              }
              return null;
            });
    return waiter.answer;
  }

  /** Gives out the permits that are free to those that wait. */
  void grant() {
    List<Reply> granted = new ArrayList<>(1);
    lock.lock();
    try {
      Iterator<Waiter> first = waiters.iterator();
      while (first.hasNext()) {
        int out = count.takeForWaiting();
        if (out == 0) {
          break;
        }
        Waiter waiter = first.next();
        first.remove();
        cancelTimeout(waiter);
        granted.add(new Reply(waiter, limiter.permit(out)));
      }
    } finally {
      lock.unlock();
    }
    complete(granted);
  }

  private void timedOut(Waiter waiter) {
    if (leave(waiter)) {
      complete(List.of(new Reply(waiter, limiter.refused())));
    }
  }

  /** Takes a request out of the queue; returns whether it was there. */
  private boolean leave(Waiter waiter) {
    lock.lock();
    try {
      boolean there = waiters.remove(waiter);
      if (there) {
        count.leave();
        cancelTimeout(waiter);
      }
      return there;
    } finally {
      lock.unlock();
    }
  }

  private static void cancelTimeout(Waiter waiter) {
    if (waiter.timeout != null) {
      waiter.timeout.cancel();
    }
  }

  private void complete(List<Reply> replies) {
    Deque<Reply> outer = COMPLETING.get();
    if (outer != null) {
      outer.addAll(replies);
      return;
    }
    if (replies.isEmpty()) {
      return;
    }
    Deque<Reply> all = new ArrayDeque<>(replies);
    COMPLETING.set(all);
    try {
      for (Reply next = all.poll(); next != null; next = all.poll()) {
        if (!next.waiter().answer.complete(next.permit())) {
          next.permit().close(); // It has left meanwhile.
        }
      }
    } finally {
      COMPLETING.remove();
    }
  }
}
