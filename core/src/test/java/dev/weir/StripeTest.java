package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StripeTest {
  /** A key's state here is its rest time, and nothing else: a bucket's word. */
  private static final Meter METER = new Gcra(false, true, 1_000_000);

  private static long[] restedAt(long nanos) {
    return new long[] {nanos, Meter.LONG_AGO};
  }

  @Test
  void putAndForget_agreeWithAMap_howeverKeysCollide() {
    long seed = Long.getLong("weir.seed", System.nanoTime());
    System.out.println("StripeTest: -Dweir.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int trial = 0; trial < 100; trial++) {
      Budget budget = new Budget(Long.MAX_VALUE / 2);
      Stripe stripe = new Stripe(METER, budget);
      Map<Long, Long> right = new HashMap<>();
      long now = 0;
      long floor = Meter.LONG_AGO;
      for (int i = 0; i < 2_000; i++) {
        // Few homes, many keys: long runs that wrap around the end of the array.
        long key = (random.nextLong(1, 200) << 32) | (random.nextInt(4) == 0 ? 15 : 13);
        now += random.nextInt(3);
        if (random.nextInt(4) > 0) {
          long rests = now + random.nextInt(200);
          int added = stripe.put(key, restedAt(rests), now);
          budget.take(added);
          assertThat(added).isEqualTo(right.put(key, rests) == null ? 1 : 0);
        } else {
          stripe.forget(now, random.nextInt(8));
          for (Map.Entry<Long, Long> each : Map.copyOf(right).entrySet()) {
            if (stripe.state(each.getKey()) == null) {
              assertThat(each.getValue()).isLessThanOrEqualTo(now);
              floor = Math.max(floor, each.getValue());
              right.remove(each.getKey());
            }
          }
          assertThat(stripe.floorNanos()).isGreaterThanOrEqualTo(floor);
        }
        long[] state = stripe.state(key);
        assertThat(state == null ? null : state[0]).isEqualTo(right.get(key));
        assertThat(budget.keys()).isEqualTo(right.size());
      }
      right.forEach((key, rests) -> assertThat(stripe.state(key)).isEqualTo(restedAt(rests)));
      stripe.forget(now + 1_000, stripe.capacity());
      assertThat(budget.keys()).isZero();
      assertThat(budget.words()).isZero();
      assertThat(stripe.capacity()).isLessThanOrEqualTo(16);
    }
  }

  @Test
  void clear_givesEverythingBack() {
    Budget budget = new Budget(1_000);
    Stripe stripe = new Stripe(METER, budget);
    for (long key = 1; key <= 100; key++) {
      budget.take(stripe.put(key, restedAt(1_000), 0));
    }
    assertThat(budget.keys()).isEqualTo(100);
    assertThat(stripe.latestNanos()).isZero();
    stripe.clear();
    assertThat(budget.keys()).isZero();
    assertThat(budget.words()).isZero();
    assertThat(stripe.state(7)).isNull();
  }
}
