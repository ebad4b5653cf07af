package dev.weir;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this process that wait for seats, for each key in the order in which they came.
 * Safe for use by many threads.
 */
final class SeatQueue {
  /*
   * When is a request tried again? Only the first one of a key is, so that none overtakes it: when
   * a seat of the key is given back by this limiter, when seats that are out may have been lost,
   * and from time to time, since others may give seats back in the same store. A try takes the
   * permits if they are there, in the store, so nothing here is trusted.
   */

  /** The time between two tries. */
  private static final long POLL_NANOS = 50_000_000L;

  /** A request that waits. */
  private static final class Waiter {
    final long permits;
    final CompletableFuture<Seat> answer = new CompletableFuture<>();
    Ticker.@Nullable ScheduledTask timeout;

    Waiter(long permits) {
      this.permits = permits;
    }
  }

  /** The requests of one key. Guarded by the queue's lock. */
  private static final class Line {
    final Deque<Waiter> waiters = new ArrayDeque<>();

    /** True while the first one is being tried, and while its end is announced. */
    boolean trying;

    /** True if a seat was given back meanwhile. */
    boolean again;

    /** The refusal of the latest try. */
    @Nullable Seat refused;

    Ticker.@Nullable ScheduledTask next;
  }

  private final Seats seats;
  private final Ticker ticker;
  private final Map<Long, Line> lines = new HashMap<>();

  /** The requests that wait, for all keys: mostly none, and then the lock is not needed. */
  private final AtomicInteger waiting = new AtomicInteger();

  SeatQueue(Seats seats, Ticker ticker) {
    this.seats = seats;
    this.ticker = ticker;
  }

  /** Adds a request; the answer is a refusal if the timeout passes before its turn. */
  CompletableFuture<Seat> join(long fingerprint, long permits, long timeoutNanos) {
    Waiter waiter = new Waiter(permits);
    waiting.incrementAndGet(); // Before its first try: a seat that comes back later wakes it.
    synchronized (lines) {
      lines.computeIfAbsent(fingerprint, key -> new Line()).waiters.add(waiter);
    }
    tryFirst(fingerprint);
    synchronized (lines) {
      if (!waiter.answer.isDone()) {
        waiter.timeout =
            ticker.schedule(timeoutNanos, () -> timedOut(fingerprint, waiter, timeoutNanos));
      }
    }
    CompletableFuture<Void> unused =
        waiter.answer.handle(
            (seat, error) -> {
              waiting.decrementAndGet();
              if (error != null) { // Cancelled by the caller.
                leave(fingerprint, waiter);
              }
              return null;
            });
    return waiter.answer;
  }

  /** Tries the first request of a key whose seat was given back. */
  void released(long fingerprint) {
    if (waiting.get() > 0) {
      tryFirst(fingerprint);
    }
  }

  /** Tries the first request of a key, and then those behind it, as long as they end. */
  private void tryFirst(long fingerprint) {
    boolean more = true;
    while (more) {
      Waiter first = first(fingerprint);
      more = first != null && tryNow(fingerprint, first);
    }
  }

  /** Returns the request to try now; null if there is none, or one is being tried. */
  private @Nullable Waiter first(long fingerprint) {
    synchronized (lines) {
      Line line = lines.get(fingerprint);
      if (line == null) {
        return null;
      }
      if (line.trying) {
        line.again = true;
        return null;
      }
      if (line.next != null) {
        line.next.cancel();
        line.next = null;
      }
      Waiter first = line.waiters.peek();
      if (first == null) {
        lines.remove(fingerprint);
        return null;
      }
      line.trying = true;
      return first;
    }
  }

  /** Tries a request; returns whether its answer has come, and another is to be tried now. */
  private boolean tryNow(long fingerprint, Waiter waiter) {
    AtomicReference<@Nullable Boolean> more = new AtomicReference<>();
    try {
      seats.take(
          fingerprint,
          waiter.permits,
          seat -> {
            boolean another = answered(fingerprint, waiter, seat);
            // Not by recursion, if the store has answered at once: many may wait.
            if (!more.compareAndSet(null, another) && another) {
              tryFirst(fingerprint);
            }
          });
    } catch (RuntimeException e) { // No policy has seats any more, or the store has failed.
      ended(fingerprint, waiter);
      boolean unused = waiter.answer.completeExceptionally(e);
      return true;
    }
    return !more.compareAndSet(null, false) && Boolean.TRUE.equals(more.get());
  }

  /** Ends a request that was tried, or lets it wait; returns whether another is to be tried. */
  private boolean answered(long fingerprint, Waiter tried, Seat seat) {
    Decision decision = seat.decision();
    boolean waits =
        decision.reason() == Reason.OVER_LIMIT && decision.retryAfterNanos() != Decision.NEVER;
    if (seat.granted() || !waits || tried.answer.isDone()) {
      synchronized (lines) {
        line(fingerprint).waiters.remove(tried);
      }
      // Still as the one that is tried: a caller that gives its seat back at once, and so on behind
      // it, would go deeper and deeper into the stack.
      end(tried, seat);
      synchronized (lines) {
        Line line = line(fingerprint);
        line.trying = false;
        line.again = false;
      }
      return true;
    }
    synchronized (lines) {
      Line line = line(fingerprint);
      line.trying = false;
      line.refused = seat;
      line.next =
          ticker.schedule(
              Math.min(decision.retryAfterNanos(), POLL_NANOS), () -> tryFirst(fingerprint));
      boolean again = line.again;
      line.again = false;
      return again;
    }
  }

  /** Returns the line of a key of which a request is being tried. */
  private Line line(long fingerprint) {
    Line line = lines.get(fingerprint);
    if (line == null) {
      throw new IllegalStateException("line: none (expected: one while a request is tried)");
    }
    return line;
  }

  private void ended(long fingerprint, Waiter waiter) {
    synchronized (lines) {
      Line line = lines.get(fingerprint);
      if (line != null) {
        line.trying = false;
        line.waiters.remove(waiter);
      }
    }
  }

  private void end(Waiter waiter, Seat seat) {
    synchronized (lines) {
      if (waiter.timeout != null) {
        waiter.timeout.cancel();
      }
    }
    if (!waiter.answer.complete(seats.reported(seat, waiter.permits))) { // It has left meanwhile.
      CompletableFuture<Boolean> unused = seat.releaseAsync();
    }
  }

  private void timedOut(long fingerprint, Waiter waiter, long timeoutNanos) {
    Seat refused;
    synchronized (lines) {
      Line line = lines.get(fingerprint);
      if (line == null || !line.waiters.contains(waiter)) {
        return;
      }
      refused = line.refused;
      boolean tried = line.trying && line.waiters.peek() == waiter;
      if (tried || refused == null) { // Its answer comes at once.
        waiter.timeout =
            ticker.schedule(POLL_NANOS, () -> timedOut(fingerprint, waiter, timeoutNanos));
        return;
      }
      line.waiters.remove(waiter);
    }
    end(waiter, refused);
    tryFirst(fingerprint);
  }

  private void leave(long fingerprint, Waiter waiter) {
    synchronized (lines) {
      if (waiter.timeout != null) {
        waiter.timeout.cancel();
      }
      Line line = lines.get(fingerprint);
      boolean tried = line != null && line.trying && line.waiters.peek() == waiter;
      if (line == null || tried) {
        return; // The answer to its try ends it.
      }
      line.waiters.remove(waiter);
    }
    tryFirst(fingerprint);
  }
}
