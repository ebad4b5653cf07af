package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BreakerTest {
  private static final long MILLI = 1_000_000L;

  private final FakeTicker ticker = new FakeTicker();
  private final Breaker breaker = new Breaker(ticker);

  @BeforeEach
  void close() {
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.takeProbe()).isTrue();
    breaker.probed(true);
  }

  @Test
  void threeFailuresInARow_openIt_andNoFewer() {
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.failed()).isFalse();
    breaker.succeeded();
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.isOpen()).isFalse();

    assertThat(breaker.failed()).isTrue();

    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.failed()).as("opened again").isFalse();
  }

  @Test
  void successOfAnEarlierCall_doesNotCloseIt() {
    breaker.open();
    breaker.succeeded();

    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void closed_isNotProbed() {
    ticker.advance(1_000 * MILLI);

    assertThat(breaker.takeProbe()).isFalse();
  }

  @Test
  void open_isProbedAfterAPause_byOne() {
    assertThat(breaker.open()).isTrue();
    assertThat(breaker.open()).isFalse();
    ticker.advance(20 * MILLI - 1);
    assertThat(breaker.takeProbe()).isFalse();

    ticker.advance(1);
    assertThat(breaker.takeProbe()).isTrue();
    assertThat(breaker.takeProbe()).isFalse();

    breaker.probed(true);
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void eachFailedProbe_doublesThePause_upToHalfASecond() {
    breaker.open();
    ticker.advance(20 * MILLI);
    for (long pause : new long[] {40, 80, 160, 320, 500, 500}) {
      assertThat(breaker.takeProbe()).isTrue();
      breaker.probed(false);
      ticker.advance(pause * MILLI / 2);
      assertThat(breaker.takeProbe()).as("after half of " + pause + " ms").isFalse();
      ticker.advance(pause * MILLI / 2);
    }
    assertThat(breaker.takeProbe()).isTrue();
    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void openedAnew_itBeginsWithTheShortestPause() {
    breaker.open();
    ticker.advance(20 * MILLI);
    assertThat(breaker.takeProbe()).isTrue();
    breaker.probed(false);
    ticker.advance(40 * MILLI);
    assertThat(breaker.takeProbe()).isTrue();
    breaker.probed(true);

    breaker.open();
    ticker.advance(20 * MILLI);

    assertThat(breaker.takeProbe()).isTrue();
  }
}
