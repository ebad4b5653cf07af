package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import dev.weir.testkit.LateStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests of methods that return a future, and of plain ones whose answer comes late. */
class FutureLimitTest {
  static class Shop {
    private final AtomicInteger runs = new AtomicInteger();
    private volatile Thread ranOn = Thread.currentThread();

    int runs() {
      return runs.get();
    }

    Thread ranOn() {
      return ranOn;
    }

    private String done() {
      ranOn = Thread.currentThread();
      return "done " + runs.incrementAndGet();
    }

    @RateLimit(name = "one")
    public CompletableFuture<String> future() {
      return CompletableFuture.completedFuture(done());
    }

    @RateLimit(name = "one", key = "#p0.length()")
    public CompletionStage<String> stage(String text) {
      return CompletableFuture.completedFuture(done());
    }

    @RateLimit(name = "one")
    public CompletableFuture<String> failing() {
      throw new IllegalArgumentException("out of stock");
    }

    @RateLimit(name = "one")
    public String plain() {
      return done();
    }
  }

  @Test
  void refusal_failsTheFuture() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              assertThat(shop.future().join()).isEqualTo("done 1");
              assertThat(shop.ranOn()).isSameAs(Thread.currentThread());
              CompletableFuture<String> refused = shop.future();
              assertThatExceptionOfType(CompletionException.class)
                  .isThrownBy(refused::join)
                  .withCauseInstanceOf(RateLimitExceededException.class);
              assertThat(shop.runs()).isEqualTo(1);
            });
  }

  @Test
  @SuppressWarnings("NullAway") // The missing argument is tested.
  void errorInAnExpression_failsTheStage() {
    new Limited()
        .run(
            Shop.class,
            shop ->
                assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> shop.stage(null).toCompletableFuture().join())
                    .withCauseInstanceOf(IllegalStateException.class)
                    .withMessageContaining("Shop.stage(String): @RateLimit key: \"#p0.length()\""));
  }

  @Test
  void lateAnswer_doesNotBlockTheCaller_norRunOnTheStoresThread() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              CompletableFuture<String> first = shop.future();
              assertThat(first).isNotDone();
              assertThat(shop.runs()).isZero();
              store.answer();
              assertThat(first.join()).isEqualTo("done 1");
              assertThat(shop.ranOn()).isNotSameAs(Thread.currentThread());
              CompletableFuture<String> second = shop.future();
              store.answer();
              assertThatExceptionOfType(CompletionException.class)
                  .isThrownBy(second::join)
                  .withCauseInstanceOf(RateLimitExceededException.class);
            });
  }

  @Test
  void exceptionOfTheMethod_failsTheFutureIfLate() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              CompletableFuture<String> future = shop.failing();
              store.answer();
              assertThatExceptionOfType(ExecutionException.class)
                  .isThrownBy(future::get)
                  .withCauseInstanceOf(IllegalArgumentException.class);
            });
  }

  @Test
  void cancelledFuture_givesBack() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              CompletableFuture<String> cancelled = shop.future();
              cancelled.cancel(false);
              store.answer(); // The decision.
              store.answer(); // The refund.
              CompletableFuture<String> next = shop.future();
              store.answer();
              assertThat(next.join()).isEqualTo("done 1");
            });
  }

  @Test
  void plainMethod_waitsForALateAnswer() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              FutureTask<String> call = new FutureTask<>(shop::plain);
              Thread caller = new Thread(call, "caller");
              caller.start();
              try {
                while (store.due() == 0) {
                  Thread.onSpinWait();
                }
                assertThat(shop.runs()).isZero();
                store.answer();
                assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done 1");
                assertThat(shop.ranOn()).isSameAs(caller);
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
  }

  @Test
  void interruptedWait_givesBack() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              Thread.currentThread().interrupt();
              assertThatIllegalStateException()
                  .isThrownBy(shop::plain)
                  .withMessageContaining("Shop.plain(): interrupted");
              assertThat(Thread.interrupted()).isTrue();
              store.answer();
              store.answer();
              CompletableFuture<String> next = shop.future();
              store.answer();
              assertThat(next.join()).isEqualTo("done 1");
            });
  }

  @Test
  void applicationsExecutor_runsWhatIsLate() {
    LateStore store = new LateStore();
    CountDownLatch used = new CountDownLatch(1);
    new Limited(Limited.RULES, store)
        .runner()
        .withBean(Shop.class)
        .withBean(
            "applicationTaskExecutor",
            java.util.concurrent.Executor.class,
            () ->
                task -> {
                  used.countDown();
                  task.run();
                })
        .run(
            context -> {
              CompletableFuture<String> future = context.getBean(Shop.class).future();
              store.answer();
              assertThat(future.join()).isEqualTo("done 1");
              assertThat(used.getCount()).isZero();
            });
  }
}
