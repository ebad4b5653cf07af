package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.MemoryStore;
import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Tests of calls that wait in the queue of a rule. */
class QueueLimitTest {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: name
          value: queued
          rate_limit:
            unit: second
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 10s}}
        - key: name
          value: slow
          rate_limit:
            unit: minute
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 1m}}
      """;

  static class Shop {
    @RateLimit(name = "queued", maxWait = "3s")
    public String plain() {
      return "done";
    }

    @RateLimit(name = "queued", maxWait = "3s")
    public CompletableFuture<String> future() {
      return CompletableFuture.completedFuture("done");
    }

    @RateLimit(name = "queued", maxWait = "3s")
    public Mono<String> mono() {
      return Mono.just("done");
    }

    @RateLimit(name = "slow", maxWait = "3s")
    public CompletableFuture<String> slow() {
      return CompletableFuture.completedFuture("done");
    }

    @RateLimit(name = "queued")
    public String impatient() {
      return "done";
    }
  }

  private final Limited limited = new Limited(RULES, new MemoryStore());

  @Test
  void refusedFuture_waitsForItsTurn() {
    limited.run(
        Shop.class,
        shop -> {
          assertThat(shop.future()).isDone();
          CompletableFuture<String> waiting = shop.future();
          assertThat(waiting).isNotDone();
          limited.ticker.advance(Duration.ofSeconds(1));
          assertThat(waiting.join()).isEqualTo("done");
        });
  }

  @Test
  void refusedMono_waitsForItsTurn() {
    limited.run(
        Shop.class,
        shop -> {
          shop.plain();
          CompletableFuture<String> waiting = shop.mono().toFuture();
          assertThat(waiting).isNotDone();
          limited.ticker.advance(Duration.ofSeconds(1));
          assertThat(waiting.join()).isEqualTo("done");
        });
  }

  @Test
  void refusedPlainCall_blocksItsOwnThread() {
    limited.run(
        Shop.class,
        shop -> {
          shop.plain();
          FutureTask<String> call = new FutureTask<>(shop::plain);
          Thread caller = new Thread(call, "caller");
          caller.start();
          try {
            while (caller.getState() != Thread.State.WAITING) {
              Thread.onSpinWait();
            }
            limited.ticker.advance(Duration.ofSeconds(1));
            assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void wait_isBoundedByTheAnnotation() {
    limited.run(
        Shop.class,
        shop -> {
          assertThat(shop.slow()).isCompleted();
          assertThat(shop.slow()).isCompletedExceptionally();
        });
  }

  @Test
  void withoutMaxWait_isRefusedAtOnce() {
    limited.run(
        Shop.class,
        shop -> {
          shop.impatient();
          assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(shop::impatient);
        });
  }

  @Test
  void reactorsThread_isRefusedAtOnce() {
    limited.run(
        Shop.class,
        shop -> {
          shop.plain();
          Mono<String> onReactor =
              Mono.fromSupplier(shop::plain).subscribeOn(Schedulers.parallel());
          assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(onReactor::block);
        });
  }

  @Test
  void cancelledSubscription_leavesTheQueue() {
    limited.run(
        Shop.class,
        shop -> {
          shop.plain();
          Disposable left = shop.mono().subscribe();
          assertThat(shop.future()).isCompletedExceptionally();
          left.dispose();
          CompletableFuture<String> next = shop.future();
          limited.ticker.advance(Duration.ofSeconds(1));
          assertThat(next.join()).isEqualTo("done");
        });
  }
}
