package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.Sharing;
import dev.weir.shared.SharedBinding;
import dev.weir.wire.testkit.RedisCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store in a Redis Cluster of three nodes. */
class RedisClusterTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final long PERMITS = 10;

  private static RedisCluster cluster;
  private static RedisStore store;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start(3);
    store = RedisStore.builder(cluster.uri()).timeout(LONG).build();
    Redis.await(store::available);
  }

  @AfterAll
  static void stop() {
    store.close();
    cluster.close();
  }

  private static Policy.Builder policy(String name) {
    return Policy.builder(Quota.of(PERMITS, WINDOW)).name(name);
  }

  private static String nameInRedis(Binding binding, String key) {
    byte[] name = RedisCode.of((SharedBinding) binding).key(store.fingerprint().of(key));
    return new String(name, StandardCharsets.UTF_8);
  }

  private static Charges decided(Charges charges) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(charges, 0, done::complete);
    return done.orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Test
  void emptyRequest_passes() {
    assertThat(decided(new Charges()).allowed()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void everyAlgorithm_admitsTheQuotaOfEachKey_whateverItsNode(Algorithm algorithm) {
    for (Consistency consistency : Consistency.values()) {
      Policy policy =
          policy(consistency + " " + algorithm)
              .algorithm(algorithm)
              .sharing(Sharing.STRICT.consistency(consistency))
              .build();
      RateLimiter limiter = RateLimiter.builder(policy).store(store).build();
      List<CompletableFuture<Boolean>> answers = new ArrayList<>();
      for (int i = 0; i < 2 * PERMITS; i++) {
        for (int key = 0; key < 12; key++) {
          answers.add(
              limiter
                  .tryAcquireAsync("key " + key)
                  .thenApply(d -> d.allowed())
                  .toCompletableFuture());
        }
      }
      long admitted = answers.stream().filter(CompletableFuture::join).count();
      assertThat(admitted).as("%s %s", consistency, algorithm).isEqualTo(12 * PERMITS);
    }
  }

  @Test
  void requestOverSeveralSlots_givesItsSeatBackIfItIsRefused() {
    Binding seats =
        store.bind("seats", Policy.concurrency(2, Duration.ofMinutes(5)).name("seats").build(), 0);
    Binding rate = store.bind("rate of seats", policy("rate of seats").build(), 0);
    long key = store.fingerprint().of("k");
    assertThat(decided(new Charges().add(rate, key, PERMITS)).allowed()).isTrue();
    Charges refused = decided(new Charges().add(seats, key, 2).add(rate, key, 1));
    assertThat(refused.allowed()).isFalse();
    Redis.await(() -> remaining(seats, key) == 2);
    Charges taken = decided(new Charges().add(seats, key, 2));
    assertThat(taken.allowed()).isTrue();
    CompletableFuture<Renewal> renewed = new CompletableFuture<>();
    store.renew(seats, key, taken.decision(0), 0, renewed::complete);
    assertThat(renewed.orTimeout(30, TimeUnit.SECONDS).join()).isEqualTo(Renewal.RENEWED);
    CompletableFuture<Long> given = new CompletableFuture<>();
    store.refund(seats, key, 2, taken.decision(0), 0, given::complete);
    assertThat(given.orTimeout(30, TimeUnit.SECONDS).join()).isEqualTo(2);
  }

  @Test
  void requestOverSeveralSlots_isChargedForAllOrNone() {
    Binding one = store.bind("one", policy("one").build(), 0);
    Binding other = store.bind("other", policy("other").build(), 0);
    long key = store.fingerprint().of("k");
    assertThat(cluster.nodes().get(0).command("CLUSTER", "KEYSLOT", nameInRedis(one, "k")))
        .isNotEqualTo(
            cluster.nodes().get(0).command("CLUSTER", "KEYSLOT", nameInRedis(other, "k")));
    assertThat(decided(new Charges().add(one, key, 4).add(other, key, 6)).allowed()).isTrue();
    Charges refused = decided(new Charges().add(one, key, 5).add(other, key, 5));
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.fits(0)).isTrue();
    assertThat(refused.reason(1)).isEqualTo(Reason.OVER_LIMIT);
    Redis.await(() -> remaining(one, key) == 6);
    assertThat(remaining(other, key)).isEqualTo(4);
    Charges rest = decided(new Charges().add(one, key, 6).add(other, key, 4));
    assertThat(List.of(rest.reason(0), rest.reason(1))).containsOnly(Reason.WITHIN_LIMIT);
    assertThat(rest.allowed()).isTrue();
    assertThat(remaining(one, key)).isZero();
    assertThat(remaining(other, key)).isZero();
  }

  private static long remaining(Binding binding, long key) {
    return decided(new Charges().add(binding, key, 0).peek()).remaining(0);
  }

  @Test
  void lostNode_makesItsKeysUncertain_andNoOthers_untilItIsBack() {
    try (RedisCluster own = RedisCluster.start(3, "cluster-require-full-coverage no");
        RedisStore shared = RedisStore.builder(own.uri()).timeout(Duration.ofMillis(300)).build()) {
      RateLimiter limiter = RateLimiter.builder(policy("rule").build()).store(shared).build();
      Binding binding = shared.bind("rule", limiter.policy(), 0);
      List<String> lost = new ArrayList<>();
      List<String> kept = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        boolean first = own.nodeOf(nameInRedis(binding, "key " + i)) == own.nodes().get(0);
        (first ? lost : kept).add("key " + i);
      }
      assertThat(lost).isNotEmpty();
      for (int i = 0; i < 30; i++) {
        String key = "key " + i;
        Redis.await(() -> limiter.tryAcquire(key, 0).reason() == Reason.WITHIN_LIMIT);
      }
      own.nodes().get(0).kill();
      lost.forEach(key -> Redis.await(() -> limiter.tryAcquire(key).reason() == Reason.UNCERTAIN));
      kept.forEach(
          key -> Redis.await(() -> limiter.tryAcquire(key).reason() == Reason.WITHIN_LIMIT));
      for (String key : lost) {
        assertThat(limiter.tryAcquire(key).reason()).isEqualTo(Reason.UNCERTAIN);
      }
      own.nodes().get(0).restart();
      lost.forEach(
          key -> Redis.await(() -> limiter.tryAcquire(key, 0).reason() == Reason.WITHIN_LIMIT));
    }
  }
}
