package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.shared.internal.DecideOne;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operations of a process that is late itself. */
class LatenessTest {
  private static final long MILLI = 1_000_000L;
  private static final long TIMEOUT = 50 * MILLI;
  private static final long TICK = 5 * MILLI;
  private static final long[] FITS = {1, 0, 9, 0, 1_000, 0, 5_000};

  private final FakeTicker ticker = new FakeTicker();
  private final FakeShard shard = new FakeShard();
  private final Counters counters = new Counters();
  private final List<String> log = new ArrayList<>();
  private final Caller caller =
      new Caller(shard, Settings.of(TIMEOUT, ticker, log::add, log::add, counters));
  private int keys;

  @BeforeEach
  void theShardAnswersItsProbe() {
    caller.tick();
    shard.probes.get(0).complete(FakeShard.fine());
  }

  private Answers request() {
    Answers got = new Answers();
    caller.send(new DecideOne(Bindings.ANY, ++keys, 1, 1, got));
    return got;
  }

  /** Advances time in ticks, as if processors were free. */
  private void pass(long nanos) {
    for (long passed = 0; passed < nanos; passed += TICK) {
      ticker.advance(TICK);
      caller.tick();
    }
  }

  /** Advances time without running anything, and then runs the tick first. */
  private void starve(long nanos) {
    shard.stuck = true;
    ticker.advance(nanos);
    caller.tick();
  }

  @Test
  void replyThatHasArrived_isReadBeforeItsDeadlineCounts() {
    Answers got = request();
    starve(TIMEOUT + 30 * MILLI);
    assertThat(got.answers).as("not given up on yet").isEmpty();

    // A reply that waits in the socket is read before the turn is over.
    shard.calls.get(0).answer(FITS);
    shard.read();

    assertThat(got.times()).isEqualTo(1);
    assertThat(counters.failures().get("timeout")).isZero();
    assertThat(counters.late.sum()).isZero();
  }

  @Test
  void replyThatHasNotArrived_isATimeout_whenAllThatArrivedHasBeenRead() {
    Answers got = request();
    pass(TIMEOUT - TICK);
    shard.stuck = true;
    pass(TICK);
    assertThat(got.answers).isEmpty();

    shard.read();

    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
  }

  @Test
  void deadStore_isGivenUpOnAtTheTimeout_whereNothingIsLate() {
    Answers got = request();
    pass(TIMEOUT - TICK);
    assertThat(got.answers).isEmpty();
    pass(TICK);
    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
  }

  @Test
  void deadStore_isGivenUpOnByTwiceTheTimeout_ifNothingIsEverRead() {
    shard.stuck = true;
    Answers got = request();
    pass(TIMEOUT);
    assertThat(got.answers).isEmpty();
    pass(TIMEOUT);
    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
  }

  @Test
  void deadStore_isGivenUpOnByTwiceTheTimeout_ifEveryTurnIsLate() {
    Answers got = request();
    long waited = 0;
    while (got.answers.isEmpty()) {
      starve(5 * TICK);
      shard.read();
      waited += 5 * TICK;
    }
    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(waited).isEqualTo(2 * TIMEOUT);
  }

  @Test
  void whatWaitedBehindALateReply_isSentAfterIt_andHasItsTime() {
    request();
    request();
    Answers waiting = request();
    starve(TIMEOUT - TICK);
    assertThat(shard.calls).hasSize(2);
    shard.calls.get(0).answer(FITS);
    shard.read();
    assertThat(shard.calls).hasSize(3);

    // It has as much time as if this process had run.
    pass(TIMEOUT - 2 * TICK);
    assertThat(waiting.answers).isEmpty();
    shard.calls.get(2).answer(FITS);

    assertThat(waiting.times()).isEqualTo(1);
  }

  @Test
  void lateTick_isLatenessToo() {
    request();
    request();
    Answers waiting = request();
    ticker.advance(TIMEOUT - TICK);
    caller.tick();
    pass(4 * TICK);

    assertThat(waiting.answers).isEmpty();
  }

  @Test
  void timeWithoutQuestions_isNoLateness() {
    pass(10 * TIMEOUT);
    Answers got = request();
    pass(TIMEOUT);
    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
  }

  @Test
  void probeWhoseReplyHasArrived_hasSucceeded() {
    caller.disconnected();
    while (shard.probes.size() < 2) {
      pass(TICK);
    }
    starve(TIMEOUT + 30 * MILLI);
    assertThat(shard.probes.get(1).isDone()).isFalse();
    shard.probes.get(1).complete(FakeShard.fine());
    shard.read();
    assertThat(caller.available()).isTrue();
  }

  @Test
  void probeWithoutAReply_hasFailed() {
    caller.disconnected();
    while (shard.probes.size() < 2) {
      pass(TICK);
    }
    pass(TIMEOUT);
    assertThat(shard.probes.get(1)).isCompletedExceptionally();
    assertThat(log).last().asString().contains("(timeout: no answer in time)");
  }
}
