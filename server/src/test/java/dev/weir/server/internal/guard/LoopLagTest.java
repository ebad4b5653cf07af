package dev.weir.server.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/**
 * Tests that an idle loop is not woken, and that a loop that was idle detects overload like any
 * other.
 */
class LoopLagTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  private int scheduled;
  private boolean full;
  private final LoopLag lag =
      new LoopLag(
          SECOND,
          0,
          same -> {
            if (full) {
              throw new RejectedExecutionException();
            }
            scheduled++;
          });

  @Test
  void beat_endsAfterATurnInWhichNothingWasAsked() {
    lag.beat(20 * MILLI);
    assertThat(scheduled).isZero();
  }

  @Test
  void request_startsItOnce_andItGoesOnForAsLongAsRequestsCome() {
    lag.beat(20 * MILLI);
    for (int i = 0; i < 3; i++) {
      assertThat(lag.overloaded(60 * SECOND, 1)).isFalse();
    }
    assertThat(scheduled).isOne();
    lag.beat(60 * SECOND + 20 * MILLI);
    assertThat(scheduled).isEqualTo(2);
    lag.beat(60 * SECOND + 40 * MILLI);
    assertThat(scheduled).isEqualTo(2);
  }

  @Test
  void loopThatWasIdle_isNotBehind_andFindsOverloadInTheThirdLateTurn() {
    lag.beat(20 * MILLI);
    for (int turn = 0; turn < 3; turn++) {
      long now = (60 + 3 * turn) * SECOND;
      assertThat(lag.overloaded(now, 1_000)).as("turn %s", turn).isFalse();
      assertThat(lag.overloaded(now + 2 * SECOND, 1_000)).as("turn %s", turn).isEqualTo(turn == 2);
      lag.beat(now + 3 * SECOND);
    }
  }

  @Test
  void backlogThatIsGone_isForgottenBeforeItEnds() {
    lag.overloaded(0, 1_000);
    for (int turn = 1; turn <= LoopLag.MAX_BAD_TURNS; turn++) {
      lag.beat(3L * turn * SECOND);
      lag.overloaded(3L * turn * SECOND, 1_000);
    }
    long now = 3L * LoopLag.MAX_BAD_TURNS * SECOND;
    scheduled = 0;
    lag.beat(now += 20 * MILLI); // A turn with a request.
    for (int left = LoopLag.MAX_BAD_TURNS - 1; left > 0; left--) {
      assertThat(scheduled).isEqualTo(LoopLag.MAX_BAD_TURNS - left);
      lag.beat(now += 20 * MILLI);
    }
    assertThat(scheduled).isEqualTo(LoopLag.MAX_BAD_TURNS - 1);
    assertThat(lag.overloaded(now + 60 * SECOND, 1_000)).isFalse();
  }

  @Test
  void beatThatCouldNotBeScheduled_isByTheNextRequest() {
    lag.beat(20 * MILLI);
    full = true;
    assertThatThrownBy(() -> lag.overloaded(SECOND, 1))
        .isInstanceOf(RejectedExecutionException.class);
    full = false;
    assertThat(lag.overloaded(SECOND, 1)).isFalse();
    assertThat(scheduled).isOne();
    full = true;
    assertThatThrownBy(() -> lag.beat(SECOND + 20 * MILLI))
        .isInstanceOf(RejectedExecutionException.class);
    full = false;
    assertThat(lag.overloaded(2 * SECOND, 1)).isFalse();
    assertThat(scheduled).isEqualTo(2);
  }
}
