package dev.weir.config.internal.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Instant;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StoreClockTest {
  private static final long START = 1_800_000_000_000_000_000L;
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  private final FakeTicker ticker = new FakeTicker(START);
  private final FakeTicker wall = new FakeTicker(START);
  private int jumps;
  private final StoreClock clock = new StoreClock(ticker, wall, () -> jumps++);

  private static Instant at(long nanos) {
    return Instant.ofEpochMilli(Math.floorDiv(nanos, MILLI));
  }

  /**
   * The difference of the clocks and the time of an answer are arbitrary: the end is on its side.
   */
  @Test
  void end_isNeverLateForARaiseNorEarlyForACut() {
    int runs = Trials.unseeded("store's clock", 5_000);
    for (long seed = 1; seed <= runs; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long ahead = random.nextLong(-3_600 * SECOND, 3_600 * SECOND);
      StoreClock measured = new StoreClock(ticker, wall, () -> {});
      for (int i = 0; i < 3; i++) {
        long drift = random.nextLong(-MILLI, MILLI);
        ahead += i == 0 ? 0 : drift;
        long from = START + random.nextLong(100 * SECOND);
        long to = from + random.nextLong(SECOND);
        long wrote = from + random.nextLong(to - from + 1);
        measured.measured(from, at(wrote + ahead), to);
        Instant until = Instant.ofEpochSecond(START / SECOND + random.nextLong(1_000_000));
        long right = until.getEpochSecond() * SECOND - ahead;
        long early = measured.endNanos(until, true);
        long late = measured.endNanos(until, false);
        assertThat(early).as("seed %d", seed).isLessThanOrEqualTo(right);
        assertThat(late).as("seed %d", seed).isGreaterThanOrEqualTo(right);
        assertThat(late - early)
            .as("seed %d", seed)
            .isLessThanOrEqualTo(SECOND + MILLI + 2 * StoreClock.SLACK_NANOS);
      }
    }
  }

  @Test
  void clockThatJumps_isSaidOnceAndSmallDriftIsNot() {
    clock.measured(START, at(START), START + MILLI);
    clock.measured(START, at(START + 50 * MILLI), START + MILLI);
    assertThat(jumps).isZero();
    clock.measured(START, at(START + 600 * MILLI), START + MILLI);
    assertThat(jumps).isZero();
    clock.measured(START, at(START + 1_300 * MILLI), START + MILLI);
    assertThat(jumps).isEqualTo(1);
    clock.measured(START, at(START + 1_300 * MILLI), START + MILLI);
    clock.measured(START, at(START + 1_900 * MILLI), START + MILLI);
    assertThat(jumps).isEqualTo(1);
    clock.measured(START, at(START - 3_600 * SECOND), START + MILLI);
    assertThat(jumps).isEqualTo(2);
  }

  @Test
  void measuring_isDueAtFirstEachMinuteAndAfterAStepOfTheWallClock() {
    assertThat(clock.due()).isTrue();
    clock.measured(START, at(START), START);
    assertThat(clock.due()).isFalse();
    ticker.advance(59 * SECOND);
    wall.advance(59 * SECOND);
    assertThat(clock.due()).isFalse();
    ticker.advance(SECOND);
    wall.advance(SECOND);
    assertThat(clock.due()).isTrue();
    clock.measured(ticker.nanos(), at(ticker.nanos()), ticker.nanos());
    assertThat(clock.due()).isFalse();
    wall.advance(3_600 * SECOND); // The machine was suspended.
    assertThat(clock.due()).isTrue();
  }

  @Test
  void endInAThousandYears_isNoEnd() {
    Instant far = Instant.parse("9999-12-31T23:59:59Z");
    assertThat(clock.endNanos(far, true)).isEqualTo(Long.MAX_VALUE);
    assertThat(clock.endNanos(far, false)).isEqualTo(Long.MAX_VALUE);
  }
}
