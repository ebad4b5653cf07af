package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.rules.Request;
import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import dev.weir.testkit.LateStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tests of limits at the same time: a call counts until its result has ended. */
class SeatLimitTest {
  static class Shop {
    @RateLimit(name = "seats")
    public String plain(Supplier<String> body) {
      return body.get();
    }

    @RateLimit(name = "seats")
    public CompletionStage<String> stage(Supplier<CompletionStage<String>> body) {
      return body.get();
    }

    @RateLimit(name = "seats")
    public Mono<String> mono(Supplier<Mono<String>> body) {
      return body.get();
    }

    @RateLimit(name = "seats")
    public Flux<String> flux(Supplier<Flux<String>> body) {
      return body.get();
    }
  }

  private final Limited limited = new Limited();

  private static long free(Limited limited) {
    AtomicLong free = new AtomicLong(-1);
    limited.engine.peek(
        Request.of("shop", "name", "seats"),
        answer ->
            free.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return free.get();
  }

  private long free() {
    return free(limited);
  }

  private void threeHolds() {
    for (int i = 0; i < 9; i++) {
      limited.ticker.advance(Duration.ofSeconds(10));
    }
  }

  private static IllegalArgumentException outOfStock() {
    return new IllegalArgumentException("out of stock");
  }

  @Test
  void plainMethod_holdsItsSeatUntilItReturns() {
    limited.run(
        Shop.class,
        shop -> {
          String body =
              shop.plain(
                  () -> {
                    threeHolds();
                    return free() + shop.plain(() -> ", " + free());
                  });
          assertThat(body).isEqualTo("1, 0");
          assertThat(free()).isEqualTo(2);
          assertThatIllegalArgumentException()
              .isThrownBy(
                  () ->
                      shop.plain(
                          () -> {
                            throw outOfStock();
                          }));
          assertThat(free()).isEqualTo(2);
        });
  }

  @Test
  void stage_holdsItsSeatUntilItIsComplete() {
    limited.run(
        Shop.class,
        shop -> {
          CompletableFuture<String> one = new CompletableFuture<>();
          CompletableFuture<String> two = new CompletableFuture<>();
          assertThat(shop.stage(() -> one)).isSameAs(one);
          CompletionStage<String> second = shop.stage(() -> two);
          threeHolds();
          assertThat(free()).isZero();
          assertThat(shop.stage(() -> one)).isCompletedExceptionally();
          one.complete("done");
          assertThat(free()).isEqualTo(1);
          assertThat(second.toCompletableFuture().cancel(true)).isTrue();
          assertThat(free()).isEqualTo(2);
          assertThatIllegalArgumentException()
              .isThrownBy(
                  () ->
                      shop.stage(
                          () -> {
                            throw outOfStock();
                          }));
          assertThat(free()).isEqualTo(2);
        });
  }

  @Test
  void stageAfterALateAnswer_holdsItsSeatUntilItIsComplete() {
    LateStore store = new LateStore();
    Limited late = new Limited(Limited.RULES, store);
    late.run(
        Shop.class,
        shop -> {
          CompletableFuture<String> body = new CompletableFuture<>();
          CompletableFuture<Void> begun = new CompletableFuture<>();
          CompletionStage<String> stage =
              shop.stage(
                  () -> {
                    begun.complete(null);
                    return body;
                  });
          store.answer();
          begun.join();
          body.complete("done");
          assertThat(stage.toCompletableFuture().join()).isEqualTo("done");
          while (store.answer() == 0) { // The seat is given back, on the executor's thread.
            Thread.onSpinWait();
          }
          assertThat(freeLate(late, store)).isEqualTo(2);
        });
  }

  private static long freeLate(Limited late, LateStore store) {
    AtomicLong free = new AtomicLong(-1);
    late.engine.peek(
        Request.of("shop", "name", "seats"),
        answer ->
            free.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    assertThat(store.answer()).isNotNegative();
    return free.get();
  }

  @Test
  void publisher_holdsASeatForEachSubscriptionUntilItsEnd() {
    limited.run(
        Shop.class,
        shop -> {
          Sinks.Many<String> sink = Sinks.many().multicast().directBestEffort();
          Flux<String> flux = shop.flux(sink::asFlux);
          assertThat(free()).isEqualTo(2);
          List<String> heard = new ArrayList<>();
          Disposable one = flux.subscribe(heard::add);
          Disposable two = flux.subscribe(heard::add);
          sink.tryEmitNext("a").orThrow();
          threeHolds();
          assertThat(heard).containsExactly("a", "a");
          assertThat(free()).isZero();
          assertThatExceptionOfType(RateLimitExceededException.class)
              .isThrownBy(() -> flux.blockFirst());
          one.dispose();
          assertThat(free()).isEqualTo(1);
          sink.tryEmitComplete().orThrow();
          assertThat(two.isDisposed()).isTrue();
          assertThat(free()).isEqualTo(2);
        });
  }

  @Test
  void mono_givesItsSeatBackHoweverItEnds() {
    limited.run(
        Shop.class,
        shop -> {
          for (int i = 0; i < 3; i++) {
            assertThat(shop.mono(() -> Mono.fromSupplier(() -> "free: " + free())).block())
                .isEqualTo("free: 1");
            assertThat(free()).isEqualTo(2);
            assertThat(shop.mono(Mono::empty).block()).isNull();
            assertThatIllegalArgumentException()
                .isThrownBy(
                    () ->
                        shop.mono(
                                () -> {
                                  throw outOfStock();
                                })
                            .block());
            assertThatIllegalArgumentException()
                .isThrownBy(
                    () -> shop.mono(() -> Mono.error(new IllegalArgumentException())).block());
            shop.mono(Mono::never).subscribe().dispose();
            assertThat(free()).isEqualTo(2);
          }
          assertThat(limited.ticker.scheduled()).as("no renewals are left").isZero();
        });
  }
}
