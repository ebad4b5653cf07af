package dev.weir.bench;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.bench.peers.AsyncLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.redis.RedisScenario;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A proof that a limiter limits, before its speed is measured: a limiter that does not limit is
 * fast.
 */
public final class LimitProof {
  private static final int PERMITS = 10;
  private static final int ASKS = 100;
  private static final Quota QUOTA = Quota.perMinute(PERMITS);

  private LimitProof() {}

  /** Returns the policy by which a limiter is to be proven. */
  public static Policy policy(String name) {
    return RedisScenario.bucket(name, QUOTA, PERMITS);
  }

  /**
   * Requests keys that were never used from a limiter with {@link #policy}, from many threads.
   *
   * @throws IllegalStateException if a key was admitted more or less often than its quota allows
   */
  public static void prove(KeyedLimiter limiter, Callers callers) throws InterruptedException {
    prove(callers, admitted -> count(limiter.tryAcquire("first"), admitted));
    prove(callers, admitted -> count(limiter.tryAcquire("second"), admitted));
    if (limiter instanceof AsyncLimiter async) {
      prove(
          callers,
          admitted -> {
            CompletableFuture<Boolean> answer =
                async.tryAcquireAsync("third").toCompletableFuture();
            count(answer.join(), admitted);
          });
    }
  }

  private static void prove(Callers callers, Consumer<AtomicInteger> ask)
      throws InterruptedException {
    AtomicInteger admitted = new AtomicInteger();
    long begun = System.nanoTime();
    callers.each(ASKS, n -> ask.accept(admitted));
    long tookNanos = System.nanoTime() - begun;
    long back = tookNanos * PERMITS / QUOTA.windowNanos();
    if (admitted.get() < PERMITS || admitted.get() > PERMITS + back) {
      throw new IllegalStateException(
          "admitted: " + admitted + " of " + ASKS + " (expected: " + PERMITS + ")");
    }
  }

  private static void count(boolean allowed, AtomicInteger admitted) {
    if (allowed) {
      admitted.incrementAndGet();
    }
  }
}
