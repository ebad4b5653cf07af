package dev.weir.examples.recipes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.PackedDecision;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reservation;
import dev.weir.Seat;
import dev.weir.Sharing;
import dev.weir.SingleLimiter;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.micrometer.WeirMetrics;
import dev.weir.redis.RedisStore;
import dev.weir.testkit.FakeTicker;
import dev.weir.wire.testkit.RedisServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * The snippets of {@code docs/recipes.md}: the lines between three backticks on the page are here
 * between {@code // recipe} and {@code // end}, and {@link RecipesPageTest} compares them.
 */
class RecipesTest {
  // recipe
  static final class Handler {
    private final RateLimiter limiter = RateLimiter.of(Quota.perMinute(100));

    String handle(String user) {
      Decision decision = limiter.tryAcquire(user);
      if (!decision.allowed()) {
        return "429, Retry-After: " + decision.retryAfterSeconds();
      }
      return "200, " + decision.remaining() + " left";
    }
  }

  // end

  @Test
  void perUserRecipe_runs() {
    Handler handler = new Handler();
    assertThat(handler.handle("alice")).isEqualTo("200, 99 left");
    for (int i = 0; i < 99; i++) {
      handler.handle("alice");
    }
    assertThat(handler.handle("alice")).startsWith("429, Retry-After: ");
  }

  @Test
  void severalQuotasRecipe_runs() {
    String user = "alice";
    // recipe
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10), Quota.perMinute(100));
    Decision decision = limiter.tryAcquire(user);
    // end
    assertThat(decision.remaining()).isEqualTo(9);
    assertThat(decision.parts()).hasSize(2);
  }

  @Test
  void changeAtRunTimeRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.perMinute(1));
    limiter.tryAcquire("alice");
    // recipe
    limiter.replace(Quota.perMinute(200));
    // end
    assertThat(limiter.peek("alice").remaining()).isEqualTo(199);
  }

  @Test
  void keylessRecipe_runs() throws InterruptedException {
    List<String> sent = new ArrayList<>();
    // recipe
    SingleLimiter limiter = SingleLimiter.of(Quota.perSecond(50));
    for (int i = 0; i < 10; i++) {
      limiter.acquire();
      sent.add("message " + i);
    }
    // end
    assertThat(sent).hasSize(10);
  }

  @Test
  void waitWithTimeoutRecipe_runs() throws InterruptedException {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10));
    String user = "alice";
    // recipe
    Decision decision = limiter.acquire(user, Duration.ofSeconds(2));
    if (!decision.allowed()) {
      // Refused at once, without waiting: the permit would come later than that.
    }
    // end
    assertThat(decision.allowed()).isTrue();
  }

  @Test
  void asyncRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10));
    String user = "alice";
    // recipe
    CompletableFuture<String> response =
        limiter
            .acquireAsync(user, Duration.ofSeconds(2))
            .thenApply(decision -> decision.allowed() ? "sent" : "refused");
    // end
    assertThat(response.join()).isEqualTo("sent");
  }

  @Test
  void exportsRecipe_runs() {
    List<String> done = new ArrayList<>();
    for (String user : List.of("alice", "alice", "bob")) {
      // recipe
      RateLimiter exports =
          RateLimiter.of(Policy.concurrency(2, Duration.ofMinutes(1)).name("exports").build());
      try (Seat seat = exports.seat(user)) {
        if (seat.granted()) {
          export(user);
        } else {
          refuse(user);
        }
      }
      // end
      done.add(user);
      assertThat(exports.peek(user).remaining()).isEqualTo(2);
    }
    assertThat(done).hasSize(3);
    assertThat(exported).containsExactlyElementsOf(done);
  }

  private final List<String> exported = new ArrayList<>();

  private void export(String what) {
    exported.add(what);
  }

  private void refuse(String user) {
    throw new AssertionError("refused " + user);
  }

  @Test
  void longWorkRecipe_runs() {
    FakeTicker ticker = new FakeTicker();
    RateLimiter exports =
        RateLimiter.builder(Policy.concurrency(1, Duration.ofMinutes(1)).build())
            .ticker(ticker)
            .build();
    String user = "alice";
    List<String> parts = List.of("a", "b");
    // recipe
    Seat seat = exports.seat(user);
    for (String part : parts) {
      if (!seat.renew()) {
        throw new IllegalStateException("lost the seat");
      }
      export(part);
    }
    seat.release();
    // end
    assertThat(exported).isEqualTo(parts);
    assertThat(seat.renew()).isFalse();
    assertThat(exports.seat(user).granted()).isTrue();
    assertThat(exports.seat(user).granted()).isFalse();
    ticker.advance(Duration.ofSeconds(61));
    assertThat(exports.seat(user).granted()).isTrue();
  }

  @Test
  void backendRecipe_runs() throws InterruptedException {
    List<String> results = new ArrayList<>();
    // recipe
    RateLimiter backend =
        RateLimiter.of(
            Policy.concurrency(10, Duration.ofSeconds(30)).name("calls at once").build(),
            Policy.builder(Quota.perSecond(100)).name("calls a second").build());
    try (Seat seat = backend.seat("search", 1, Duration.ofMillis(200))) {
      if (seat.granted()) {
        results.add(search());
      }
    }
    // end
    assertThat(results).containsExactly("found");
    assertThat(backend.peek("search").parts())
        .extracting(Decision::remaining)
        .containsExactlyInAnyOrder(10L, 99L);
  }

  private static String search() {
    return "found";
  }

  private record Reply(boolean overloaded) {}

  private static Reply call() {
    return new Reply(true);
  }

  @Test
  void adaptiveRecipe_runs() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    // recipe
    AdaptiveLimiter search = AdaptiveLimiter.builder().floor(4).initial(20).ceiling(200).build();
    try (AdaptivePermit permit = search.tryAcquire()) {
      if (permit.granted()) {
        Reply reply = call();
        permit.end(reply.overloaded() ? RequestOutcome.DROPPED : RequestOutcome.SUCCEEDED);
      }
    }
    // end
    // recipe
    WeirMetrics.monitor(registry, search, "search");
    String reason = search.explain().reason();
    // end
    assertThat(reason).isEqualTo("Lowered from 20 to 18, because a request was dropped.");
    assertThat(registry.get("weir.adaptive.limit").gauge().value()).isEqualTo(18);
    assertThat(search.inFlight()).isZero();
  }

  @Test
  void metricsRecipe_runs() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10));
    // recipe
    WeirMetrics.monitor(registry, limiter, "api");
    // end
    limiter.tryAcquire("alice");
    assertThat(registry.get("weir.requests").tags("outcome", "allowed").counter().count()).isOne();
  }

  @Test
  void fakeClockRecipe_runs() {
    // recipe
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter = RateLimiter.builder(Quota.perMinute(1)).ticker(ticker).build();
    assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
    assertThat(limiter.tryAcquire("alice").allowed()).isFalse();
    ticker.advance(Duration.ofMinutes(1));
    assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
    // end
  }

  @Test
  void customKeysRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10));
    byte[] bytes = "token".getBytes(UTF_8);
    // recipe
    Decision byParts = limiter.forKey("tenant 7", "alice").tryAcquire();
    Decision byBytes = limiter.forKey(bytes).tryAcquire();
    Decision byNumber = limiter.forKey(4711).tryAcquire();
    // end
    assertThat(List.of(byParts, byBytes, byNumber)).allMatch(Decision::allowed);
  }

  @Test
  void giveBackRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.perMinute(10));
    String user = "alice";
    // recipe
    Decision charged = limiter.tryAcquire(user, 5);
    long returned = limiter.refund(user, 2, charged); // Only 3 were needed.
    long taken = limiter.tryAcquireUpTo(user, 100); // As many as there are: 7.
    limiter.reset(user); // As if the user had never come.
    // end
    assertThat(returned).isEqualTo(2);
    assertThat(taken).isEqualTo(7);
    assertThat(limiter.peek(user).remaining()).isEqualTo(10);
  }

  @Test
  void redisRecipe_runs() {
    try (RedisServer server = RedisServer.start()) {
      String uri = server.uri();
      // recipe
      try (RedisStore store = RedisStore.builder(uri).build()) {
        Policy policy =
            Policy.builder(Quota.perMinute(100))
                .name("api")
                .sharing(Sharing.STRICT.onFailure(FailureMode.LOCAL).localShare(0.25))
                .build();
        RateLimiter limiter = RateLimiter.builder(policy).store(store).build();
        assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
      }
      // end
    }
  }

  @Test
  void packedRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10));
    // recipe
    PackedLimiter packed = limiter.packed();
    boolean allowed = PackedDecision.allowed(packed.decide("alice", 1));
    // end
    assertThat(allowed).isTrue();
  }

  @Test
  void reserveRecipe_runs() {
    RateLimiter limiter = RateLimiter.of(Quota.of(1, Duration.ofSeconds(4)));
    limiter.tryAcquire("alice");
    // recipe
    Reservation reservation = limiter.reserve("alice", 1, Duration.ofSeconds(5));
    long waitNanos = reservation.granted() ? reservation.waitNanos() : -1;
    // end
    assertThat(waitNanos).isBetween(1L, 4_000_000_000L);
    assertThat(reservation.cancel()).isTrue();
  }
}
