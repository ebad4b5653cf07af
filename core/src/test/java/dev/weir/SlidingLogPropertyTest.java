package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random charges, reservations, debts and refunds of one key, at instants that lie close together
 * or about a window apart: what is admitted never exceeds the limit, by a plain list.
 */
class SlidingLogPropertyTest {
  private static final long W = 6_400_000;
  private static final String STRICT = "SLIDING_WINDOW(_LOG|_BUCKETS)?";

  /** Permits that were charged at an instant, less those given back. */
  private static final class Charged {
    final long at;
    final long resetAt;
    long permits;

    Charged(long at, long resetAt, long permits) {
      this.at = at;
      this.resetAt = resetAt;
      this.permits = permits;
    }
  }

  private static final class Key {
    final Policy policy;
    final Meter meter;
    final SplittableRandom random;
    final List<Charged> charged = new ArrayList<>();
    long[] state;
    long now = 1_000_000;

    Key(Algorithm algorithm, SplittableRandom random) {
      this.random = random;
      policy = Policy.builder(new Quota(random.nextInt(1, 6), W)).algorithm(algorithm).build();
      meter = policy.shape().meter();
      state = meter.fresh();
    }

    boolean mayGrow() {
      return random.nextInt(20) > 0;
    }

    void pass(long unit) {
      switch (random.nextInt(8)) {
        case 0 -> now += random.nextLong(W / 3);
        case 1 -> now += W / 2 - random.nextLong(3 * unit);
        case 2 -> now += W - random.nextLong(3 * unit);
        default -> now += random.nextLong(2 * unit);
      }
    }

    long effective() {
      return meter.effectiveNanos(state, 0, now);
    }

    void charge(long longestWait) {
      long permits = random.nextLong(1, 3);
      long at = effective();
      long wait =
          longestWait > 0
              ? meter.queueNanos(state, 0, at, permits, policy)
              : meter.waitNanos(state, 0, at, permits, policy);
      if (wait <= longestWait) {
        state = meter.charge(state, 0, at, wait, permits, policy, mayGrow());
        charged.add(new Charged(at + wait, meter.resetAtNanos(state, 0), permits));
      }
    }

    void owe() {
      long at = effective();
      state = meter.owe(state, 0, at, 1, policy, mayGrow());
      charged.add(new Charged(at, meter.resetAtNanos(state, 0), 1));
    }

    void refund(boolean newest) {
      if (charged.isEmpty()) {
        return;
      }
      int last = charged.size() - 1;
      Charged of = charged.get(newest ? last : Math.max(0, last - random.nextInt(4)));
      long at = effective();
      long given =
          of.permits == 0
              ? 0
              : meter.refundable(state, 0, at, of.permits, of.at, of.resetAt, policy);
      if (given > 0) {
        state = meter.refund(state, 0, at, given, of.at, policy);
        of.permits -= given;
      }
    }

    /** Returns what was charged in the window that begins with an instant. */
    long inWindowFrom(long from) {
      return charged.stream()
          .filter(each -> each.at >= from && each.at < from + W)
          .mapToLong(each -> each.permits)
          .sum();
    }

    long inWindowUntil(long until) {
      return inWindowFrom(until - W + 1);
    }
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, names = STRICT, mode = EnumSource.Mode.MATCH_ALL)
  void chargesReservationsAndCancellations_fillNoWindowTwice(Algorithm algorithm) {
    int runs = 3_000;
    SplittableRandom seeds = Seed.random("sliding logs, " + algorithm, runs);
    for (int run = 0; run < runs; run++) {
      Key key = new Key(algorithm, seeds.split());
      long unit = Math.max(2, key.policy.shape().granularityNanos());
      for (int step = 0; step < 40; step++) {
        key.pass(unit);
        switch (key.random.nextInt(5)) {
          case 0, 1 -> key.charge(3 * W);
          case 2 -> key.refund(true);
          case 3 -> key.refund(false);
          default -> key.charge(0);
        }
        for (Charged each : key.charged) {
          assertThat(key.inWindowFrom(each.at))
              .as("-Dweir.seed=%s, run %s, step %s, from %s", Seed.SEED, run, step, each.at)
              .isLessThanOrEqualTo(key.policy.quota().permits());
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, names = STRICT, mode = EnumSource.Mode.MATCH_ALL)
  void debtsThatAreManyAndGivenBack_areCountedUntilTheyAreOver(Algorithm algorithm) {
    int runs = 40;
    SplittableRandom seeds = Seed.random("sliding logs with debts, " + algorithm, runs);
    for (int run = 0; run < runs; run++) {
      Key key = new Key(algorithm, seeds.split());
      long unit = Math.max(2_000, key.policy.shape().granularityNanos());
      for (int step = 0; step < 1_500; step++) {
        key.now += key.random.nextLong(step % 300 == 0 ? W : 4 * unit);
        if (key.random.nextInt(3) > 0) {
          key.owe();
        } else {
          key.refund(true);
        }
        long counted =
            key.policy.quota().permits()
                - key.meter.balance(key.state, 0, key.effective(), key.policy);
        assertThat(counted)
            .as("-Dweir.seed=%s, run %s, step %s", Seed.SEED, run, step)
            .isGreaterThanOrEqualTo(key.inWindowUntil(key.effective()));
      }
    }
  }
}
