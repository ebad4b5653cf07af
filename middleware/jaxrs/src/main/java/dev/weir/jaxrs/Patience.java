package dev.weir.jaxrs;

import dev.weir.engine.Ticket;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of threads that wait for verdicts: their number, and their time. Safe for use by many
 * threads.
 */
final class Patience {
  private final long maxDecisionNanos;
  private final Semaphore turns;

  Patience(Duration maxDecision, int maxWaiting) {
    this.maxDecisionNanos = maxDecision.toNanos();
    this.turns = new Semaphore(maxWaiting);
  }

  /**
   * Returns the verdict that counts, after the request has waited for its turn if it may; null if
   * none came in time. The charge of a verdict that comes too late is given back.
   */
  @Nullable Verdict decide(RequestLimiter limiter, RequestView view) {
    CompletableFuture<Verdict> decision = new CompletableFuture<>();
    limiter.decide(view, decision::complete);
    Verdict verdict = await(decision, maxDecisionNanos);
    if (verdict == null || verdict.passes() || verdict.maxWaitNanos() <= 0 || !turns.tryAcquire()) {
      return verdict;
    }
    try {
      return turn(verdict);
    } finally {
      turns.release();
    }
  }

  private Verdict turn(Verdict refused) {
    CompletableFuture<Verdict> turn = new CompletableFuture<>();
    Ticket ticket = refused.enqueue(Long.MAX_VALUE, turn::complete);
    // The queue answers when the time is over; a remote store may then still have to decide.
    Verdict later = await(turn, refused.maxWaitNanos() + maxDecisionNanos);
    if (later == null) {
      ticket.leave();
      return refused;
    }
    return later;
  }

  private static @Nullable Verdict await(CompletableFuture<Verdict> future, long nanos) {
    try {
      return future.get(nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      giveUp(future);
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      giveUp(future);
      return null;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // Nothing completes it with an exception.
    }
  }

  private static void giveUp(CompletableFuture<Verdict> future) {
    CompletableFuture<Void> unused = future.thenAccept(Verdict::abandoned);
  }
}
