package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.testkit.FakeTicker;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A reply that waits in its socket while the thread that reads it does not run. */
class LateReadTest extends FaultTest {
  /** Long enough for some ticks, which use real time. */
  private static final long TICKS = 20;

  @Test
  void replyThatIsReadAfterItsDeadline_isADecision_ifItHadArrived() throws Exception {
    FakeTicker time = new FakeTicker();
    AtomicLong looks = new AtomicLong();
    Ticker ticker =
        () -> {
          looks.incrementAndGet();
          return time.nanos();
        };
    RedisServer server = closing(RedisServer.start());
    RedisStore store =
        closing(RedisStore.builder(server.uri()).ticker(ticker).timeout(LONG).build());
    Redis.await(() -> store.available() || time.advance(Duration.ofMillis(1)).nanos() < 0);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(1);
    Thread asking = Thread.currentThread();
    CompletableFuture<Decision> first = limiter.tryAcquireAsync("first").toCompletableFuture();
    Object unused =
        first.thenRun(
            () -> {
              if (Thread.currentThread() != asking) {
                blocked.countDown();
                awaitUninterruptibly(busy);
              }
            });
    CompletableFuture<Decision> second = limiter.tryAcquireAsync("second").toCompletableFuture();
    if (!first.isDone()) {
      assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
    }

    // Longer than the timeout, and shorter than the allowance of a late process.
    time.advance(LONG.plus(LONG.dividedBy(2)));
    long before = looks.get();
    Redis.await(() -> looks.get() > before + 5 * TICKS || second.isDone());
    busy.countDown();

    assertThat(second.get(30, TimeUnit.SECONDS).reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(store.metrics().failures().values()).containsOnly(0L);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
