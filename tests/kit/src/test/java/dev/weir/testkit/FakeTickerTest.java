package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FakeTickerTest {
  @Test
  void time_standsStillUntilMoved() throws InterruptedException {
    FakeTicker ticker = new FakeTicker(5);

    assertThat(ticker.nanos()).isEqualTo(5);
    assertThat(ticker.advance(10).nanos()).isEqualTo(15);
    assertThat(ticker.advance(Duration.ofNanos(-20)).nanos()).isEqualTo(-5);
    assertThat(ticker.set(100).nanos()).isEqualTo(100);
    ticker.sleep(50);
    assertThat(ticker.nanos()).isEqualTo(150);
  }

  @Test
  void sleep_interrupted_throwsAndTimeStays() {
    FakeTicker ticker = new FakeTicker();
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> ticker.sleep(50)).isInstanceOf(InterruptedException.class);
    assertThat(ticker.nanos()).isZero();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void scheduledTasks_runInTheirOrder_unlessCancelled() {
    FakeTicker ticker = new FakeTicker();
    List<String> ran = new ArrayList<>();
    Ticker.ScheduledTask first = ticker.schedule(10, () -> ran.add("first"));
    ticker.schedule(20, () -> ran.add("third"));
    ticker.schedule(15, () -> ran.add("second"));
    assertThat(ticker.scheduled()).isEqualTo(3);
    first.cancel();
    first.cancel();
    assertThat(ticker.scheduled()).isEqualTo(2);
    ticker.advance(20);
    assertThat(ran).containsExactly("second", "third");
    assertThat(ticker.scheduled()).isZero();
    first.cancel();
  }
}
