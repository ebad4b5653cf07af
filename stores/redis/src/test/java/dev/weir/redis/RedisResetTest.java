package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.Trials;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Resets and refunds of a key in Redis, and buckets that every request defines itself. */
class RedisResetTest {
  private static final long SECOND = 1_000_000_000L;

  private final Store store = Redis.emptyStore();

  @AfterEach
  void close() {
    store.close();
  }

  private Charges request(Binding binding, long key, long permits, long nowNanos) {
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(new Charges().add(binding, key, permits), nowNanos, answer::complete);
    return answer.join();
  }

  private boolean reset(Binding binding, long key, long nowNanos) {
    CompletableFuture<Boolean> known = new CompletableFuture<>();
    store.reset(binding, key, nowNanos, known::complete);
    return known.join();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void keyThatWasReset_isDecidedAsANewOne(Algorithm algorithm) {
    Policy policy = Policy.builder(Quota.perMinute(3)).algorithm(algorithm).build();
    Binding binding = store.bind("reset " + algorithm, policy, 0);
    assertThat(reset(binding, 1, SECOND)).as("never used").isFalse();
    request(binding, 2, 1, SECOND);
    for (int round = 0; round < 2; round++) {
      assertThat(request(binding, 1, 3, SECOND).allowed()).isTrue();
      assertThat(request(binding, 1, 1, SECOND).allowed()).isFalse();
      assertThat(reset(binding, 1, SECOND)).isTrue();
    }
    assertThat(request(binding, 1, 0, SECOND).remaining(0)).isEqualTo(3);
    assertThat(request(binding, 2, 0, SECOND).remaining(0)).as("another key").isEqualTo(2);
  }

  @Test
  void reset_forgetsWhatEveryShapeKnows() {
    Policy minute = Policy.of(Quota.perMinute(3));
    Policy hour = Policy.of(Quota.perHour(3));
    request(store.bind("shapes", minute, 0), 1, 2, SECOND);
    Binding binding = store.bind("shapes", hour, 0);
    assertThat(request(binding, 1, 2, SECOND).allowed()).isFalse();
    assertThat(reset(binding, 1, SECOND)).isTrue();
    assertThat(request(binding, 1, 3, SECOND).allowed()).isTrue();
  }

  /** A third of a second is no whole number of microseconds. */
  @ParameterizedTest
  @EnumSource(names = {"TOKEN_BUCKET", "LEAKY_BUCKET"})
  void refundAtOnce_ofABucketThatResetsBetweenMicroseconds_isComplete(Algorithm algorithm) {
    Policy policy = Policy.builder(Quota.perSecond(3)).algorithm(algorithm).build();
    Binding binding = store.bind("refund " + algorithm, policy, 0);
    Charges charged = request(binding, 1, 2, SECOND);
    assertThat(charged.resetAfterNanos(0)).isEqualTo(666_666_668);
    CompletableFuture<Long> given = new CompletableFuture<>();
    store.refund(binding, 1, 2, charged.decision(0), SECOND, given::complete);
    assertThat(given.join()).isEqualTo(2);
    assertThat(request(binding, 1, 0, SECOND).remaining(0)).isEqualTo(3);
  }

  private static Policy bucket(long burst, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos))
        .algorithm(Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  @Test
  void variants_decideAsTheGenericCellRateAlgorithmSays() {
    SplittableRandom random = Trials.random("bucket variants in Redis");
    Binding base = store.bind("base", bucket(1, 1, SECOND), 0);
    Map<Long, Long> arrivals = new HashMap<>();
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now +=
          1_000
              * (random.nextInt(10) == 0 ? random.nextLong(30_000_000) : random.nextLong(250_000));
      long burst = 1 + random.nextLong(9);
      long permits = 1 + random.nextLong(7);
      long window = SECOND * (1 + random.nextLong(20));
      long quantity = 1 + random.nextLong(10);
      long key = 1 + random.nextLong(20);
      Charges decided =
          request(store.variant(base, bucket(burst, permits, window)), key, quantity, now);
      long emission = (window + permits - 1) / permits;
      long arrival = Math.max(now, arrivals.getOrDefault(key, 0L));
      boolean fits = now >= arrival + emission * quantity - emission * burst;
      if (fits) {
        arrivals.put(key, arrival + emission * quantity);
      }
      assertThat(decided.allowed()).as("request %d", i).isEqualTo(fits);
      if (random.nextInt(50) == 0) {
        reset(base, key, now);
        arrivals.remove(key);
      }
    }
  }
}
