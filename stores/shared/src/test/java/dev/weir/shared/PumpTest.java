package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** A pump with one thread; {@link PumpLincheckTest} has several. */
class PumpTest {
  private int rounds;
  private int failing;

  private final Pump pump =
      new Pump(
          () -> {
            rounds++;
            if (rounds == failing) {
              throw new IllegalStateException("round " + rounds);
            }
          });

  @Test
  void whatIsWantedWhileAThreadHolds_isDoneWhenItReleases() {
    assertThat(pump.hold()).isTrue();
    pump.run();
    assertThat(pump.hold()).isFalse();
    assertThat(rounds).isZero();

    pump.release();

    assertThat(rounds).isPositive();
    assertThat(pump.hold()).isTrue();
  }

  @Test
  void afterARoundThatThrows_theNextIsDone() {
    failing = 1;
    assertThatThrownBy(pump::run).hasMessage("round 1");

    pump.run();

    assertThat(rounds).isEqualTo(2);
  }
}
