package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.log.FixedLedger;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FlushWatchTest {
  private static final Duration TENTH = Duration.ofMillis(100);

  private final FakeTicker ticker = new FakeTicker();
  private final FlushWatch watch = new FlushWatch(ticker);

  /** A log that is on disk up to some index. */
  private record Log(boolean leads, FlushedIndexes flushed) implements FixedLedger {
    Log(boolean leads, long here, long elsewhere) {
      this(leads, new FlushedIndexes(here, elsewhere, "c"));
    }

    @Override
    public CompletionStage<byte[]> append(byte[] entry) {
      return CompletableFuture.failedStage(new IllegalStateException("nothing is appended"));
    }

    @Override
    public @Nullable String leader() {
      return "a";
    }

    @Override
    public Status status() {
      return new Status("a", 1, 1, 1);
    }

    @Override
    public void transfer(@Nullable String member) {}

    @Override
    public void close() {}
  }

  private void observe(int times, Log log) {
    for (int i = 0; i < times; i++) {
      watch.observe(log);
      ticker.advance(TENTH);
    }
  }

  @Test
  void othersAreAheadFor2Seconds_isLate_untilTheyAreNot() {
    observe(20, new Log(true, 7, 8));
    assertThat(watch.isLate()).as("2 s are not over").isFalse();
    observe(1, new Log(true, 8, 9));
    assertThat(watch.isLate()).isTrue();
    observe(1, new Log(true, 9, 9));
    assertThat(watch.isLate()).isFalse();
  }

  @Test
  void late_leadGoesToTheFirstVoter_onceInAWhile() {
    observe(20, new Log(true, 7, 8));
    assertThat(watch.successor()).isNull();
    observe(1, new Log(true, 8, 9));
    assertThat(watch.successor()).isEqualTo("c");
    assertThat(watch.successor()).as("it rests").isNull();
    observe(299, new Log(true, 9, 10));
    assertThat(watch.successor()).isNull();
    observe(1, new Log(true, 10, 11));
    assertThat(watch.successor()).as("after half a minute").isEqualTo("c");
  }

  @Test
  void lateAndWithoutAFlushOfItsOwn_isStalled() {
    observe(21, new Log(true, 7, 8));
    assertThat(watch.isStalled()).isTrue();
    observe(1, new Log(true, 8, 9));
    assertThat(watch.isLate()).isTrue();
    assertThat(watch.isStalled()).as("it flushes, slowly").isFalse();
    observe(1, new Log(true, 9, 9));
    assertThat(watch.isLate()).isFalse();
  }

  @Test
  void oneObservationInBetween_beginsAnew() {
    observe(20, new Log(true, 7, 8));
    observe(1, new Log(true, 8, 8));
    observe(20, new Log(true, 8, 9));
    assertThat(watch.isLate()).isFalse();
  }

  @Test
  void fewObservationsInALongTime_areNotEnough() {
    for (int i = 1; i < FlushWatch.LEAST_OBSERVATIONS; i++) {
      watch.observe(new Log(true, 7, 8));
      ticker.advance(Duration.ofSeconds(5));
    }
    assertThat(watch.isLate()).isFalse();
    watch.observe(new Log(true, 7, 8));
    assertThat(watch.isLate()).isTrue();
  }

  @Test
  void memberThatDoesNotLead_isNeverLate() {
    observe(30, new Log(false, 7, 8));
    assertThat(watch.isLate()).isFalse();
    observe(30, new Log(true, 7, 8));
    observe(1, new Log(false, 7, 8));
    assertThat(watch.isLate()).as("it has handed over").isFalse();
  }
}
