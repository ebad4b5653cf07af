package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Reservation;
import dev.weir.Sharing;
import dev.weir.Throttle;
import dev.weir.wire.testkit.RedisServer;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Limiters that share a Redis, by its own clock. */
class RedisLimiterTest {
  private static RedisServer server;
  private static RedisStore one;
  private static RedisStore two;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    one = store();
    two = store();
  }

  @AfterAll
  static void end() {
    one.close();
    two.close();
    server.close();
  }

  private static RedisStore store() {
    RedisStore store = RedisStore.builder(server.uri()).timeout(Duration.ofSeconds(20)).build();
    Redis.await(store::available);
    return store;
  }

  private static RateLimiter limiter(RedisStore store, Policy.Builder policy) {
    return RateLimiter.builder(policy.build()).store(store).build();
  }

  private static Policy.Builder hourly(String name, long permits) {
    return Policy.builder(Quota.perHour(permits)).name(name);
  }

  @Test
  void tryAcquire_admitsTheQuota_inWhateverWayItIsAsked() throws Exception {
    RateLimiter limiter = limiter(one, hourly("ways", 4));

    assertThat(limiter.tryAcquire("key").remaining()).isEqualTo(3);
    assertThat(limiter.tryAcquireAsync("key").toCompletableFuture().get(20, TimeUnit.SECONDS))
        .satisfies(decision -> assertThat(decision.remaining()).isEqualTo(2));
    assertThat(PackedDecision.allowed(limiter.packed().decide("key", 1))).isTrue();
    assertThat(limiter.peek("key").allowed()).isTrue();
    assertThat(limiter.tryAcquire("key").remaining()).isZero();

    Decision refused = limiter.tryAcquire("key");
    assertThat(refused.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.retryAfter()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
    assertThat(limiter.tryAcquire("key", 5).retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(limiter.tryAcquire("other").allowed()).isTrue();
  }

  @Test
  void batch_isDecidedInItsOrder() {
    RateLimiter limiter = limiter(one, hourly("batch", 2));
    long[] decisions = new long[6];

    limiter.packed().decide(new long[] {1, 2, 1, 1, 2, 3}, 1, decisions);

    assertThat(java.util.Arrays.stream(decisions).boxed())
        .extracting(PackedDecision::allowed)
        .containsExactly(true, true, true, false, true, true);
  }

  @Test
  void batchWithALimitOfAnotherStore_isRefusedBeforeAnythingIsCharged() {
    RateLimiter limiter = limiter(one, hourly("strange", 1));
    Policy policy = hourly("strange", 1).build();
    Batch batch =
        new Batch(2)
            .add(one.bind("strange", policy, 0), one.fingerprint().of("key"), 1)
            .add(new MemoryStore().bind("strange", policy, 0), 1, 1);

    assertThatThrownBy(() -> one.decide(batch, 0, done -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: one of this store");
    assertThat(limiter.tryAcquire("key").allowed()).isTrue();
  }

  @Test
  void softLimit_isHeldAtItsBound_andGivesBackWhatWasTolerated() {
    Policy.Builder soft = hourly("soft", 4).throttle(Throttle.soft(0.5));
    RateLimiter limiter = limiter(one, soft);
    assertThat(limiter.tryAcquire("key", 4).reason()).isEqualTo(Reason.WITHIN_LIMIT);
    Decision beyond = limiter.tryAcquire("key", 2);
    assertThat(beyond.reason()).isEqualTo(Reason.TOLERATED);
    assertThat(limiter.tryAcquireAsync("key").toCompletableFuture().join().allowed()).isFalse();

    assertThat(limiter.refund("key", 2, beyond)).isEqualTo(2);
    assertThat(limiter.tryAcquire("key", 2).allowed()).isTrue();
    Reservation later = limiter.reserve("key", 1, Duration.ofHours(2));
    assertThat(later.granted()).isTrue();
    assertThat(later.cancel()).isTrue();
  }

  @Test
  void refund_makesRoom() {
    RateLimiter limiter = limiter(one, hourly("refund", 3));
    Decision charged = limiter.tryAcquire("key", 3);

    assertThat(limiter.refund("key", 2, charged)).isEqualTo(2);
    assertThat(limiter.tryAcquire("key", 2).allowed()).isTrue();
    assertThat(limiter.tryAcquire("key").allowed()).isFalse();
  }

  @Test
  void reservation_waitsItsTurn_andCancelledMakesRoom() {
    RateLimiter limiter = limiter(one, hourly("reserve", 1));
    assertThat(limiter.reserve("key", 1, Duration.ZERO).waitNanos()).isZero();

    Reservation later = limiter.reserve("key", 1, Duration.ofHours(2));
    assertThat(later.granted()).isTrue();
    assertThat(Duration.ofNanos(later.waitNanos()))
        .isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
    assertThat(limiter.reserve("key", 1, Duration.ofMinutes(90)).granted()).isFalse();

    later.cancel();
    assertThat(limiter.reserve("key", 1, Duration.ofMinutes(90)).granted()).isTrue();
  }

  @Test
  void acquire_withoutTimeToWait_isRefused() throws InterruptedException {
    RateLimiter limiter = limiter(one, hourly("acquire", 1));

    assertThat(limiter.acquire("key", Duration.ZERO).allowed()).isTrue();
    assertThat(limiter.acquire("key", Duration.ofMinutes(1)).allowed()).isFalse();
  }

  @Test
  void twoStores_shareALimitExactly() {
    RateLimiter first = limiter(one, hourly("shared", 50));
    RateLimiter second = limiter(two, hourly("shared", 50));
    int allowed = 0;
    for (int i = 0; i < 60; i++) {
      allowed += (i % 2 == 0 ? first : second).tryAcquire("key").allowed() ? 1 : 0;
    }

    assertThat(allowed).isEqualTo(50);
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void changedRule_mintsNothing(Algorithm algorithm) {
    String name = "changed " + algorithm;
    RateLimiter before = limiter(one, hourly(name, 10));
    for (int i = 0; i < 10; i++) {
      assertThat(before.tryAcquire("key").allowed()).isTrue();
    }

    RateLimiter after =
        limiter(two, Policy.builder(Quota.perDay(10)).name(name).algorithm(algorithm));
    assertThat(after.tryAcquire("key").allowed()).isFalse();
    assertThat(before.tryAcquire("key").allowed()).isFalse();
  }

  @Test
  void leasedLimitThatWasReplaced_keepsNothing_andStillDecides() {
    Policy.Builder leased =
        hourly("replaced", 1_000)
            .sharing(
                Sharing.STRICT.consistency(Consistency.LEASED).syncInterval(Duration.ofHours(1)));
    RateLimiter old = limiter(one, leased);
    for (int i = 0; i < 100; i++) {
      assertThat(old.tryAcquire("key").allowed()).isTrue();
    }

    RateLimiter replacing = limiter(one, hourly("replaced", 1_000));
    for (int i = 0; i < 100; i++) {
      assertThat(old.tryAcquire("key").allowed()).isTrue();
    }

    Redis.await(() -> replacing.peek("key").remaining() == 800);
  }

  @Test
  void keys_expireWhenTheyAreRested() throws IOException {
    RateLimiter limiter = limiter(one, hourly("expiry", 10));
    Decision decision = limiter.tryAcquire("key");
    byte[] bytes =
        new RedisCode("weir", "expiry", limiter.policy()).key(one.fingerprint().of("key"));
    String key = new String(bytes, StandardCharsets.UTF_8);

    long restedMillis = (decision.atNanos() + decision.resetAfterNanos()) / 1_000_000;
    try (RespClient redis = server.connect()) {
      // Less than a millisecond of the difference is rounding; the rest is time that has passed.
      Long left = (Long) asked(redis, "PTTL", key);
      List<?> time = (List<?>) asked(redis, "TIME");
      long now =
          Long.parseLong((String) time.get(0)) * 1_000
              + Long.parseLong((String) time.get(1)) / 1_000;
      assertThat(left).isGreaterThanOrEqualTo(restedMillis - now);
      assertThat(left).isLessThanOrEqualTo(Duration.ofHours(1).toMillis() + 2);
    }
  }

  @Test
  void values_expireInTheMillisecondAfterTheirReset_neverBefore() throws IOException {
    RateLimiter limiter = limiter(one, hourly("latest", 10));
    try (RespClient monitor = server.connect()) {
      assertThat(monitor.call("MONITOR")).isEqualTo("OK");
      // A reset at a whole millisecond needs no rounding, so there are several.
      for (int i = 0; i < 10; i++) {
        String key = "key " + i;
        Decision decision = limiter.tryAcquire(key);
        byte[] name =
            new RedisCode("weir", "latest", limiter.policy()).key(one.fingerprint().of(key));
        String written = "\"SET\" \"" + new String(name, StandardCharsets.UTF_8) + "\" ";
        String command = "";
        while (!command.contains(written)) {
          command = String.valueOf(monitor.value());
        }
        String expires = command.replaceFirst(".* \"PXAT\" \"(\\d+)\"", "$1");
        long reset = decision.atNanos() + decision.resetAfterNanos();
        assertThat(TimeUnit.MILLISECONDS.toNanos(Long.parseLong(expires)))
            .isBetween(reset, reset + 999_000);
      }
    }
  }

  @Test
  void shortWindow_leavesNothingBehind() throws IOException {
    RateLimiter limiter =
        limiter(one, Policy.builder(Quota.of(1, Duration.ofMillis(50))).name("short"));
    String key =
        new String(
            new RedisCode("weir", "short", limiter.policy()).key(one.fingerprint().of("key")),
            StandardCharsets.UTF_8);
    assertThat(limiter.tryAcquire("key").allowed()).isTrue();

    try (RespClient redis = server.connect()) {
      Redis.await(() -> asked(redis, "EXISTS", key).equals(0L));
    }
    assertThat(limiter.tryAcquire("key").allowed()).isTrue();
  }

  private static Object asked(RespClient redis, String... command) {
    try {
      return java.util.Objects.requireNonNull(redis.call(command));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(FailureMode.class)
  void stateThatIsNotOurs_isAnsweredByThePolicy_alsoWhenLooking(FailureMode answer)
      throws IOException {
    String name = "strange state " + answer;
    RateLimiter limiter = limiter(one, hourly(name, 10).sharing(Sharing.STRICT.onFailure(answer)));
    String key =
        new String(
            new RedisCode("weir", name, limiter.policy()).key(one.fingerprint().of("key")),
            StandardCharsets.UTF_8);
    try (RespClient redis = server.connect()) {
      redis.call("SET", key, "not ours");
    }

    boolean allowed = answer != FailureMode.DENY;
    assertThat(limiter.tryAcquire("key").allowed()).isEqualTo(allowed);
    assertThat(limiter.peek("key").allowed()).isEqualTo(allowed);
    assertThat(limiter.reserve("key", 1, Duration.ofSeconds(1)).granted()).isEqualTo(allowed);
  }

  @Test
  void closing_givesBackAllAllotments() {
    RedisStore leaving = store();
    Policy.Builder leased =
        hourly("leaving", 1_000)
            .sharing(
                Sharing.STRICT.consistency(Consistency.LEASED).syncInterval(Duration.ofHours(1)));
    RateLimiter holder = limiter(leaving, leased);
    List<Long> keys = new ArrayList<>();
    for (long key = 0; key < 600; key++) {
      keys.add(key);
    }
    // An allotment is taken only after some requests for a key.
    for (int i = 0; i < 4; i++) {
      keys.forEach(key -> holder.packed().decide(key, 1));
    }
    leaving.close();

    RateLimiter looking = limiter(one, leased);
    long[] all = keys.stream().mapToLong(Long::longValue).toArray();
    for (long key : all) {
      assertThat(PackedDecision.allowed(looking.packed().decide(key, 996)))
          .as("key " + key)
          .isTrue();
    }
  }
}
