package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.spring.RateLimit;
import dev.weir.spring.RateLimitExceededException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Tests that a fallback answers refusals, and nothing else. */
class FallbackTest {
  static class Shop {
    @RateLimit(name = "one", fallback = "later")
    public String checkout(String user) throws IOException {
      if (user.isEmpty()) {
        throw new IOException("no user");
      }
      return "done";
    }

    @SuppressWarnings("unused") // Called by its name.
    private String later(String user, RateLimitExceededException refusal) {
      Duration retry = refusal.retryAfter();
      return user + " later, in " + (retry == null ? "-" : retry.toSeconds()) + " s";
    }

    @RateLimit(name = "one", fallback = "laterToo")
    public Mono<String> soon() {
      return Mono.just("done");
    }

    Mono<String> laterToo() {
      return Mono.just("later");
    }

    @RateLimit(name = "one", fallback = "futureLater")
    public CompletableFuture<String> future() {
      return CompletableFuture.completedFuture("done");
    }

    CompletableFuture<String> futureLater() {
      return CompletableFuture.completedFuture("later");
    }

    @RateLimit(name = "one")
    @RateLimit(name = "three", fallback = "never")
    public String both() {
      return "done";
    }

    String never() {
      return "never";
    }

    @RateLimit(name = "one", fallback = "failing")
    public void fail() {}

    void failing() throws IOException {
      throw new IOException("the fallback's own");
    }
  }

  private final Limited limited = new Limited();

  @Test
  void refusal_isAnsweredByTheFallback() {
    limited.run(
        Shop.class,
        shop -> {
          try {
            assertThat(shop.checkout("ann")).isEqualTo("done");
            assertThat(shop.checkout("bob")).isEqualTo("bob later, in 60 s");
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void businessException_isNot() {
    limited.run(
        Shop.class,
        shop ->
            assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> shop.checkout(""))
                .withMessage("no user"));
  }

  @Test
  void publisherAndFuture_areAnsweredInTheirOwnType() {
    limited.run(
        Shop.class,
        shop -> {
          Mono<String> soon = shop.soon();
          assertThat(soon.block()).isEqualTo("done");
          assertThat(soon.block()).isEqualTo("later");
          assertThat(shop.future().join()).isEqualTo("later");
        });
  }

  @Test
  void refusalByAnotherLimit_isAnException() {
    limited.run(
        Shop.class,
        shop -> {
          assertThat(shop.both()).isEqualTo("done");
          assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(shop::both);
        });
  }

  @Test
  void exceptionOfTheFallback_comesThrough() {
    limited.run(
        Shop.class,
        shop -> {
          shop.fail();
          assertThatExceptionOfType(Exception.class)
              .isThrownBy(shop::fail)
              .havingRootCause()
              .withMessage("the fallback's own");
        });
  }
}
