package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import dev.weir.testkit.LateStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Tests that methods that return a publisher are decided at each subscription. */
class ReactiveLimitTest {
  static class Shop {
    private final AtomicInteger runs = new AtomicInteger();

    int runs() {
      return runs.get();
    }

    @RateLimit(name = "checkout", key = "#user")
    public Mono<String> mono(String user) {
      int run = runs.incrementAndGet();
      return Mono.fromSupplier(() -> user + " " + run);
    }

    @RateLimit(name = "one")
    public Flux<Integer> flux() {
      runs.incrementAndGet();
      return Flux.range(1, 5);
    }

    @RateLimit(name = "one")
    public Publisher<Integer> publisher() {
      runs.incrementAndGet();
      return Flux.range(1, 5);
    }

    @RateLimit(name = "one")
    public Mono<String> failing() {
      throw new IllegalArgumentException("out of stock");
    }

    @RateLimit(name = "one", condition = "#user.length() > 3")
    public Mono<String> some(String user) {
      return Mono.just(user);
    }

    @RateLimit(name = "one")
    public String plain() {
      return "done";
    }
  }

  @Test
  void mono_isChargedAtEachSubscription() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Mono<String> mono = shop.mono("ann");
              assertThat(shop.runs()).isZero();
              assertThat(mono.block()).isEqualTo("ann 1");
              assertThat(mono.block()).isEqualTo("ann 2");
              assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(mono::block);
              assertThat(shop.runs()).isEqualTo(2);
              assertThat(shop.mono("bob").block()).isEqualTo("bob 3");
            });
  }

  @Test
  void retriedMono_isChargedForEachTry() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Mono<String> mono =
                  shop.mono("ann").flatMap(done -> Mono.<String>error(new RuntimeException(done)));
              assertThatExceptionOfType(RateLimitExceededException.class)
                  .isThrownBy(() -> mono.retry(5).block());
              assertThat(shop.runs()).isEqualTo(2);
            });
  }

  @Test
  void flux_runsAfterItsPermit() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Flux<Integer> flux = shop.flux();
              assertThat(shop.runs()).isZero();
              assertThat(flux.take(3).collectList().block()).containsExactly(1, 2, 3);
              assertThatExceptionOfType(RateLimitExceededException.class)
                  .isThrownBy(flux::blockLast);
              assertThat(shop.runs()).isEqualTo(1);
            });
  }

  @Test
  void publisher_isLimitedToo() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Publisher<Integer> publisher = shop.publisher();
              assertThat(Flux.from(publisher).blockLast()).isEqualTo(5);
              assertThatExceptionOfType(RateLimitExceededException.class)
                  .isThrownBy(() -> Flux.from(publisher).blockLast());
            });
  }

  @Test
  void exceptionOfTheMethod_isASignal() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Mono<String> mono = shop.failing();
              assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(mono::block);
            });
  }

  @Test
  void condition_isAskedAtSubscription() {
    new Limited()
        .run(
            Shop.class,
            shop -> {
              Mono<String> free = shop.some("ann");
              free.block();
              free.block();
              Mono<String> limited = shop.some("anna");
              limited.block();
              assertThatExceptionOfType(RateLimitExceededException.class)
                  .isThrownBy(limited::block);
            });
  }

  @Test
  void lateAnswer_isHandedToReactor() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              CompletableFuture<Boolean> onReactor =
                  shop.mono("ann").map(done -> Schedulers.isInNonBlockingThread()).toFuture();
              assertThat(onReactor).isNotDone();
              assertThat(shop.runs()).isZero();
              store.answer();
              assertThat(onReactor.join()).isTrue();
            });
  }

  @Test
  void cancelledSubscriptions_areGivenBack() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop -> {
              for (int i = 0; i < 100; i++) {
                Disposable subscription = shop.flux().subscribe();
                subscription.dispose();
                store.answer(); // The decision.
                store.answer(); // The refund.
              }
              assertThat(shop.runs()).isZero();
              CompletableFuture<Integer> last = shop.flux().last().toFuture();
              store.answer();
              assertThat(last.join()).isEqualTo(5);
            });
  }

  @Test
  void plainMethod_doesNotBlockReactorsThreads() {
    LateStore store = new LateStore();
    new Limited(Limited.RULES, store)
        .run(
            Shop.class,
            shop ->
                assertThatIllegalStateException()
                    .isThrownBy(
                        () ->
                            Mono.fromSupplier(shop::plain)
                                .subscribeOn(Schedulers.parallel())
                                .block())
                    .withMessageContaining("Shop.plain(): @RateLimit waits for an answer on"));
  }
}
