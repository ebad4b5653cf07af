package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests of the seats of one key, also where its state may not grow. */
class SeatMeterTest {
  private static final long HOLD = 6_400_000;
  private static final int LONGS = 3;

  /** Passes the instants at which the seats that are not lost were taken, and their permits. */
  static void forEachHeld(Meter meter, long[] state, long now, Policy policy, Meter.Sink sink) {
    List<Long> held = new ArrayList<>();
    meter.forEachCharge(state, 0, now, policy, (since, permits) -> held.add(since));
    int seats = (int) state[1];
    for (int i = seats - held.size(); i < seats; i++) {
      sink.charged(state[2 + LONGS * i], state[4 + LONGS * i] & 0xffff_ffffL);
    }
  }

  @Test
  void steps_fitUntilTheLimit_andAgainAfterALoss() {
    Steps.of(Algorithm.CONCURRENCY, 3, HOLD)
        .at(0, 2, 0, 1)
        .at(10_000, 2, HOLD - 10_000, 1)
        .at(10_000, 1, 0, 0)
        .at(20_000, 1, HOLD - 20_000, 0)
        .at(20_000, 3, HOLD + 10_000 - 20_000, 0)
        .at(20_000, 4, Decision.NEVER, 0)
        .at(20_000, 0, 0, 0)
        .refund(30_000, 1, 0, 0, 1)
        .refund(30_000, 5, 0, 0, 1)
        .refund(30_000, 1, 0, 0, 0)
        .at(40_000, 2, 0, 0)
        .at(HOLD + 10_000, 1, 0, 0)
        .resetsAt(2 * HOLD + 10_000);
  }

  @Test
  void requestsAtOneInstant_areEachOfAnInstantOfTheirOwn() {
    Steps.of(Algorithm.CONCURRENCY, 3, HOLD)
        .at(0, 1, 0, 2)
        .at(0, 1, 0, 1)
        .at(0, 1, 0, 0)
        .at(-50, 1, HOLD + 50, 0)
        .refund(0, 1, 1_000, 0, 1)
        .refund(0, 1, 1_000, 0, 0)
        .refund(0, 1, 3_000, 0, 0)
        .refund(0, 1, 2_000, 0, 1);
  }

  /** Permits that were given out and neither given back nor lost. */
  private static final class Out {
    final long taken;
    long since;
    long permits;

    Out(long taken, long permits) {
      this.taken = taken;
      this.since = taken;
      this.permits = permits;
    }
  }

  /** Seats that share the last entry of a full state may deny; they never admit too much. */
  @Test
  void stateThatMayNotGrow_neverAdmitsTooMuch() {
    int runs = 2_000;
    SplittableRandom seeds = Seed.random("SeatMeterTest", runs);
    int refusedEarly = 0;
    for (int run = 0; run < runs; run++) {
      refusedEarly += run(seeds.split(), "-Dweir.seed=" + Seed.SEED + ", run " + run);
    }
    assertThat(refusedEarly).as("some were denied for want of room").isPositive();
  }

  private static int run(SplittableRandom random, String about) {
    long limit = random.nextLong(1, 12);
    Policy policy = Policy.builder(new Quota(limit, HOLD)).algorithm(Algorithm.CONCURRENCY).build();
    Meter meter = policy.shape().meter();
    long[] state = meter.fresh();
    List<Out> out = new ArrayList<>();
    List<Long> gone = new ArrayList<>(); // Given back by those who had them.
    int refusedEarly = 0;
    long now = 0;
    for (int step = 0; step < 200; step++) {
      now += random.nextInt(3) == 0 ? HOLD / 8 * random.nextInt(4) : random.nextInt(3);
      long at = meter.effectiveNanos(state, 0, now);
      out.removeIf(each -> each.since + HOLD <= at);
      int kind = random.nextInt(8);
      if (kind < 4) {
        long permits = random.nextLong(1, 4);
        long wait = meter.waitNanos(state, 0, at, permits, policy);
        long used = out.stream().mapToLong(each -> each.permits).sum();
        if (wait == 0) {
          assertThat(used + permits).as(about).isLessThanOrEqualTo(limit);
          state = meter.charge(state, 0, at, 0, permits, policy, random.nextInt(3) == 0);
          out.add(new Out(at, permits));
        } else if (used + permits <= limit) {
          refusedEarly++;
        }
      } else if (!out.isEmpty() && random.nextInt(4) == 0) {
        long over = gone.isEmpty() ? -1 : gone.get(random.nextInt(gone.size()));
        assertThat(meter.refundable(state, 0, at, 3, over, 0, policy)).as(about).isZero();
        assertThat(meter.renew(state, 0, at, over, 0)).as(about).isFalse();
      } else if (!out.isEmpty()) {
        Out any = out.get(random.nextInt(out.size()));
        if (kind < 6) {
          if (meter.renew(state, 0, at, any.taken, 0)) {
            any.since = at;
          } else {
            out.remove(any); // Its holder no longer counts on it.
          }
        } else {
          long wanted = random.nextLong(1, any.permits + 1);
          long given = meter.refundable(state, 0, at, wanted, any.taken, 0, policy);
          if (given > 0) {
            state = meter.refund(state, 0, at, given, any.taken, policy);
          }
          any.permits -= wanted;
          if (any.permits == 0) {
            out.remove(any);
            gone.add(any.taken);
          }
        }
      }
      long next = meter.effectiveNanos(state, 0, now);
      out.removeIf(each -> each.since + HOLD <= next);
      long used = out.stream().mapToLong(each -> each.permits).sum();
      assertThat(meter.balance(state, 0, next, policy)).as(about).isLessThanOrEqualTo(limit - used);
    }
    long end = now + 2 * HOLD;
    assertThat(meter.remaining(state, 0, end, policy)).as(about).isEqualTo(limit);
    return refusedEarly;
  }

  @Test
  void keyWithoutSeats_isForgottenAtOnce() {
    MemoryStore store = new MemoryStore();
    Policy policy =
        Policy.builder(new Quota(3, 3_600_000_000_000L)).algorithm(Algorithm.CONCURRENCY).build();
    Binding binding = store.bind("s", policy, 0);
    for (int key = 1; key <= 50; key++) {
      Decision kept = store.decision(binding, key, 1, 1_000L * (100 + key));
      Decision seat = store.decision(binding, key, 2, 1_000L * (200 + key));
      assertThat(store.renew(binding, key, seat, 1_000L * (300 + key))).isTrue();
      assertThat(store.refund(binding, key, 2, seat, 1_000L * (400 + key))).isEqualTo(2);
      if (key % 2 == 0) {
        assertThat(store.refund(binding, key, 1, kept, 1_000L * (400 + key))).isEqualTo(1);
      }
    }
    for (int i = 0; i < 100; i++) {
      store.expire(1_000_000);
    }
    assertThat(store.keys()).isEqualTo(25);
    store.verify();
  }
}
