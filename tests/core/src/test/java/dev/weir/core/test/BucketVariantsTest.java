package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FullMode;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.testkit.Trials;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Buckets that every request describes anew, batches in detail, and forgetting on demand. */
class BucketVariantsTest {
  private static final long SECOND = 1_000_000_000L;

  private static Policy bucket(long burst, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos))
        .algorithm(Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  @Test
  void variants_decideAsTheGenericCellRateAlgorithmSays() {
    SplittableRandom random = Trials.random("bucket variants");
    MemoryStore store = new MemoryStore();
    Binding base =
        store.bind(
            "base",
            Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.TOKEN_BUCKET).build(),
            0);
    Map<Long, Long> arrivals = new HashMap<>();
    Batch batch = new Batch(1).detailed();
    long now = 0;
    int allowed = 0;
    for (int i = 0; i < 200_000; i++) {
      now += random.nextInt(10) == 0 ? random.nextLong(30 * SECOND) : random.nextLong(SECOND / 4);
      long burst = 1 + random.nextLong(9);
      long permits = 1 + random.nextLong(7);
      long window = SECOND * (1 + random.nextLong(20));
      long quantity = random.nextLong(11);
      long key = 1 + random.nextLong(50);
      batch.clear().add(store.variant(base, bucket(burst, permits, window)), key, quantity);
      store.decide(batch, now, done -> {});

      long emission = (window + permits - 1) / permits;
      long tolerance = emission * burst;
      long tat = Math.max(now, arrivals.getOrDefault(key, 0L));
      boolean fits = quantity == 0 || now >= tat + emission * quantity - tolerance;
      if (fits) {
        tat += emission * quantity;
        arrivals.put(key, tat);
      }
      String what = "request " + i;
      assertThat(batch.allowed(0)).as(what).isEqualTo(fits);
      assertThat(batch.resetAfterNanos(0)).as(what).isEqualTo(tat - now);
      long left = Math.max(0, tolerance - (tat - now)) / emission;
      assertThat(batch.remaining(0)).as(what).isEqualTo(left);
      long retry =
          fits
              ? 0
              : quantity > burst ? Decision.NEVER : tat + emission * quantity - tolerance - now;
      assertThat(PackedDecision.retryAfterNanos(batch.decision(0))).as(what).isEqualTo(retry);
      allowed += fits && quantity > 0 ? 1 : 0;
      if (random.nextInt(1_000) == 0) {
        boolean used =
            arrivals.getOrDefault(key, 0L) > now; // A key that has reset may still have a slot.
        assertThat(store.reset(base, key, now) || !used).isTrue();
        arrivals.remove(key);
      }
      if (random.nextInt(100) == 0) {
        store.expire(now);
        store.verify();
      }
    }
    assertThat(allowed).isBetween(20_000, 180_000);
  }

  @Test
  void variant_isForTokenBucketsOfThisStoreOnly() {
    MemoryStore store = new MemoryStore();
    Binding window = store.bind("window", Policy.of(Quota.perSecond(1)), 0);
    Binding bucket = store.bind("bucket", bucket(1, 1, SECOND), 0);
    assertThatThrownBy(() -> store.variant(window, bucket(1, 1, SECOND)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> store.variant(bucket, Policy.of(Quota.perSecond(1))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new MemoryStore().variant(bucket, bucket(1, 1, SECOND)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void detailedBatch_hasTheResultsOfCharges_alsoWithoutRoom() {
    int runs = FullMode.values().length * Algorithm.values().length - 1;
    SplittableRandom random = Trials.random("detailed batches", runs);
    for (FullMode full : FullMode.values()) {
      for (Algorithm algorithm : Algorithm.values()) {
        if (full == FullMode.SKETCH && algorithm == Algorithm.CONCURRENCY) {
          continue; // There is no such policy.
        }
        MemoryStore one = new MemoryStore(40);
        MemoryStore many = new MemoryStore(40);
        Policy policy =
            Policy.builder(new Quota(3, SECOND)).algorithm(algorithm).whenFull(full).build();
        Binding oneBinding = one.bind("rule", policy, 0);
        Binding manyBinding = many.bind("rule", policy, 0);
        Batch batch = new Batch(2).detailed();
        Charges charges = new Charges();
        long now = 0;
        for (int i = 0; i < 1_000; i++) {
          now += random.nextLong(SECOND / 20);
          batch.clear();
          int size = 1 + random.nextInt(9);
          for (int j = 0; j < size; j++) {
            batch.add(manyBinding, 1 + random.nextInt(60), random.nextInt(5));
          }
          many.decide(batch, now, done -> {});
          for (int j = 0; j < size; j++) {
            charges.clear().add(oneBinding, batch.fingerprint(j), batch.permits(j));
            one.decide(charges, now, done -> {});
            assertThat(batch.allowed(j)).isEqualTo(charges.allowed());
            assertThat(PackedDecision.reason(batch.decision(j))).isEqualTo(charges.reason(0));
            assertThat(batch.remaining(j)).isEqualTo(charges.remaining(0));
            assertThat(batch.resetAfterNanos(j)).isEqualTo(charges.resetAfterNanos(0));
            if (charges.reason(0) == Reason.OVER_LIMIT) {
              assertThat(PackedDecision.retryAfterNanos(batch.decision(j)))
                  .isEqualTo(charges.retryAfterNanos(0));
            }
          }
        }
        many.verify();
      }
    }
    assertThatThrownBy(() -> new Batch(1).remaining(0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void forget_givesAKeyAFreshStart_whateverTheAlgorithm() {
    for (Algorithm algorithm : Algorithm.values()) {
      MemoryStore store = new MemoryStore();
      Policy policy = Policy.builder(new Quota(2, SECOND)).algorithm(algorithm).build();
      Binding binding = store.bind("rule", policy, 0);
      assertThat(store.reset(binding, 7, 0)).isFalse();
      assertThat(store.decide(binding, 7, 2, 0)).isZero();
      assertThat(store.decide(binding, 8, 1, 0)).isOne();
      assertThat(store.decide(binding, 7, 1, 0)).isNegative();
      assertThat(store.reset(binding, 7, 0)).isTrue();
      assertThat(store.keys()).isOne();
      assertThat(store.decide(binding, 7, 1, 0)).isOne();
      assertThat(store.decide(binding, 8, 1, 0)).isZero();
      store.verify();
    }
  }
}
