package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.internal.Pace;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The checks of a store: fewer while it has no requests, and as many as usual when it has. */
class RestTest {
  private static final long TIMEOUT = 50_000_000L;
  private static final long TICK = TIMEOUT / 10;
  private static final long REST = Pace.TICKS_OF_REST * TICK;
  private static final long[] FITS = {1, 0, 9, 0, 1_000, 0, 5_000};

  private final FakeTicker ticker = new FakeTicker();
  private final FakeShard shard = new FakeShard();
  private final Counters counters = new Counters();
  private final StoreSettings settings =
      Settings.of(TIMEOUT, ticker, line -> {}, line -> {}, counters);
  private final Ticks ticks = new Ticks();
  private final SharedStore store =
      new SharedStore(settings, new FakeLink(settings, shard), ticks) {};
  private @Nullable Charges answered;

  /** Housekeeping that runs the task when it is due, in the test's time. */
  private final class Ticks implements Housekeeping {
    private @Nullable LongSupplier task;
    private long dueNanos;

    @Override
    public void repeat(LongSupplier repeated) {
      task = repeated;
      dueNanos = ticker.nanos();
    }

    @Override
    public void wake() {
      dueNanos = ticker.nanos();
    }

    @Override
    public void close() {}

    /** Advances time; returns the number of runs of the task. */
    int pass(long nanos) {
      int runs = 0;
      long end = ticker.nanos() + nanos;
      while (dueNanos - end <= 0) {
        ticker.advance(Math.max(0, dueNanos - ticker.nanos()));
        dueNanos = ticker.nanos() + Objects.requireNonNull(task).getAsLong();
        runs++;
      }
      ticker.advance(end - ticker.nanos());
      return runs;
    }
  }

  private void answersProbe() {
    ticks.pass(0);
    shard.probes.get(0).complete(FakeShard.fine());
  }

  private void rests() {
    ticks.pass(Pace.TICKS_BEFORE_REST * TICK);
    assertThat(ticks.pass(10 * REST)).isEqualTo(10);
  }

  private Binding binding(Consistency consistency) {
    return store.bind(
        "ten",
        Policy.builder(Quota.of(10, Duration.ofSeconds(1)))
            .sharing(Sharing.STRICT.consistency(consistency))
            .build(),
        0);
  }

  private void request(Binding binding) {
    answered = null;
    store.decide(new Charges().add(binding, 7, 1), 0, decided -> answered = decided);
  }

  private @Nullable Reason reason() {
    Charges known = answered;
    return known == null ? null : known.reason(0);
  }

  @Test
  void storeThatIsNotAsked_rests() {
    answersProbe();
    rests();
  }

  @Test
  void shardThatDoesNotAnswerItsProbe_isLookedAfterAsEver() {
    ticks.pass(0);
    ticks.pass(Pace.TICKS_BEFORE_REST * TICK);
    assertThat(ticks.pass(10 * REST)).isEqualTo(10 * Pace.TICKS_OF_REST);
  }

  @Test
  void requestThatEndsARest_failsWhenItsTimeIsOver_notLater() {
    answersProbe();
    Binding binding = binding(Consistency.STRICT);
    rests();
    ticker.advance(REST / 2);
    request(binding);
    ticks.pass(TIMEOUT - TICK);
    assertThat(reason()).isNull();
    ticks.pass(2 * TICK);
    assertThat(reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(counters.failures().get("timeout")).isOne();
  }

  @Test
  void storeThatWasWoken_staysAwakeForAWhile() {
    answersProbe();
    Binding binding = binding(Consistency.STRICT);
    shard.answers = requests -> FITS;
    rests();
    request(binding);
    assertThat(reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(ticks.pass((Pace.TICKS_BEFORE_REST - 1) * TICK)).isEqualTo(Pace.TICKS_BEFORE_REST);
    rests();
  }

  @Test
  void whatIsCountedHere_isSentInTimeAsEver_andThenTheStoreRests() {
    answersProbe();
    Binding binding = binding(Consistency.APPROXIMATE);
    shard.answers = requests -> FITS;
    rests();
    request(binding);
    assertThat(ticks.pass(REST)).isGreaterThanOrEqualTo(Pace.TICKS_OF_REST);
    ticks.pass(60_000_000_000L);
    rests();
  }

  @Test
  void thread_runsWhenWoken_andWhenItIsDue_untilItIsClosed() throws InterruptedException {
    CountDownLatch third = new CountDownLatch(3);
    CountDownLatch due = new CountDownLatch(10);
    try (Housekeeping thread = Housekeeping.thread("test")) {
      thread.repeat(
          () -> {
            due.countDown();
            third.countDown();
            return third.getCount() > 0 ? Long.MAX_VALUE : 1;
          });
      while (!third.await(1, TimeUnit.MILLISECONDS)) {
        thread.wake();
      }
      assertThat(due.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }
}
