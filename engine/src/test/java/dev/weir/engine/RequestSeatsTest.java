package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seats of requests: renewed until the request has ended, and given back once. */
class RequestSeatsTest {
  private static final Logger LOG = Logger.getLogger("dev.weir.seats");
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: exports
          rate_limit: {concurrency: 2, hold: 9s}
        - key: requests
          rate_limit: {unit: hour, requests_per_unit: 3}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine = Engine.builder(new MemoryStore()).ticker(ticker).build();

  /** The seat that a test answers for; it holds for nine seconds. */
  private static final class ScriptedSeat implements TakenSeat {
    final List<Consumer<? super SeatOutcome>> renewals = new ArrayList<>();
    int released;
    boolean broken;

    @Override
    public long holdNanos() {
      return 9 * SECOND;
    }

    @Override
    public void renew(Consumer<? super SeatOutcome> done) {
      if (broken) {
        throw new IllegalStateException("broken");
      }
      renewals.add(done);
    }

    @Override
    public void release(Consumer<? super SeatOutcome> done) {
      released++;
      if (broken) {
        throw new IllegalStateException("broken");
      }
      done.accept(SeatOutcome.DONE);
    }
  }

  private final ScriptedSeat scripted = new ScriptedSeat();
  private int asked;

  RequestSeatsTest() {
    engine.apply(Fixture.rules(RULES));
  }

  private static Request request(String key) {
    return new Request("d", List.of(Descriptor.of(key, "x")), 1);
  }

  private RequestSeats seats(Duration longest) {
    return new RequestSeats(engine, ticker, longest);
  }

  private RequestSeats scripted(Duration longest) {
    Decider decider =
        new ForwardingDecider(engine) {
          @Override
          public TakenSeat seat(Request request, Answer answer) {
            asked++;
            return scripted;
          }
        };
    return new RequestSeats(decider, ticker, longest);
  }

  private @Nullable RequestSeat take(RequestSeats seats, String key) {
    Request request = request(key);
    return seats.take(request, engine.decide(request), "GET /" + key);
  }

  private RequestSeat taken(RequestSeats seats) {
    return Objects.requireNonNull(take(seats, "exports"));
  }

  private int free() {
    int free = 0;
    while (engine.decide(request("exports")).allowed()) {
      free++;
    }
    return free;
  }

  @Test
  void requestLivesLongerThanTheHold_keepsItsSeatAndGivesItBackOnce() {
    RequestSeats seats = seats(RequestSeats.LONGEST);
    RequestSeat seat = taken(seats);
    for (int i = 0; i < 30; i++) {
      ticker.advance(3 * SECOND);
    }
    assertThat(free()).isEqualTo(1);
    seat.end();
    assertThat(seat.hasEnded()).isTrue();
    assertThat(free()).isEqualTo(1);
    seat.end();
    assertThat(free()).as("the second call has no effect").isZero();
    assertThat(ticker.scheduled()).isZero();
    assertThat(seats.lost() + seats.leaked()).isZero();
  }

  @Test
  void requestWithoutSuchALimit_isNotAskedForSeats() {
    RequestSeats seats = scripted(RequestSeats.LONGEST);
    assertThat(take(seats, "requests")).isNull();
    assertThat(take(seats, "unknown")).isNull();
    assertThat(asked).isZero();
    assertThat(take(seats, "exports")).isNotNull();
    assertThat(free()).isEqualTo(1);
    assertThat(take(seats, "exports")).as("refused").isNull();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void noEndIsNoticed_seatIsGivenBackAfterTheLongest_countedAndLoggedOnce() {
    List<String> lines = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            lines.add(line.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    LOG.addHandler(handler);
    LOG.setUseParentHandlers(false);
    try {
      RequestSeats seats = seats(Duration.ofSeconds(10));
      RequestSeat seat = taken(seats);
      ticker.advance(3 * SECOND).advance(3 * SECOND).advance(3 * SECOND);
      assertThat(seat.hasEnded()).isFalse();
      ticker.advance(SECOND);
      assertThat(seat.hasEnded()).isTrue();
      assertThat(seats.leaked()).isEqualTo(1);
      assertThat(free()).isEqualTo(2);
      seat.end();
      ticker.advance(60 * SECOND);
      assertThat(seats.leaked()).isEqualTo(1);
      assertThat(engine.seats().metrics().leaked()).isEqualTo(1);
      assertThat(engine.seats().metrics().released()).isEqualTo(1);
      assertThat(lines)
          .containsExactly(
              "GET /exports: its seat is given back after 10 s (expected: the end of the"
                  + " request)");
    } finally {
      LOG.removeHandler(handler);
      LOG.setUseParentHandlers(true);
    }
  }

  @Test
  void renewalSaysLost_noOtherFollowsAndNothingIsGivenBack() {
    RequestSeats seats = scripted(RequestSeats.LONGEST);
    RequestSeat seat = taken(seats);
    ticker.advance(3 * SECOND);
    assertThat(scripted.renewals).hasSize(1);
    scripted.renewals.get(0).accept(SeatOutcome.LOST);
    assertThat(ticker.scheduled()).isZero();
    assertThat(seat.hasEnded()).isTrue();
    assertThat(seats.lost()).isEqualTo(1);
    seat.end();
    assertThat(scripted.released).isZero();
  }

  @Test
  void renewalIsUncertainOrFailsOrIsNotAnswered_nextThirdTriesAgain() {
    RequestSeats seats = scripted(RequestSeats.LONGEST);
    RequestSeat seat = taken(seats);
    ticker.advance(3 * SECOND);
    scripted.renewals.get(0).accept(SeatOutcome.UNCERTAIN);
    ticker.advance(3 * SECOND);
    assertThat(scripted.renewals).as("that one is not answered").hasSize(2);
    scripted.broken = true;
    assertThatThrownBy(() -> ticker.advance(3 * SECOND)).hasMessage("broken");
    scripted.broken = false;
    ticker.advance(3 * SECOND);
    assertThat(scripted.renewals).hasSize(3);
    seat.end();
    scripted.renewals.get(2).accept(SeatOutcome.LOST);
    assertThat(seats.lost()).as("it came after the end").isZero();
    assertThat(scripted.released).isEqualTo(1);
  }

  @Test
  void storeIsBroken_endNeverFails() {
    RequestSeat seat = taken(scripted(RequestSeats.LONGEST));
    scripted.broken = true;
    LOG.setUseParentHandlers(false);
    try {
      seat.end();
    } finally {
      LOG.setUseParentHandlers(true);
    }
    seat.end();
    assertThat(scripted.released).isEqualTo(1);
  }

  @Test
  void manyThreadsEndIt_seatIsGivenBackOnce() throws Exception {
    for (int round = 1; round <= 100; round++) {
      RequestSeat seat = Objects.requireNonNull(taken(scripted(RequestSeats.LONGEST)));
      CyclicBarrier start = new CyclicBarrier(4);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Thread thread =
            new Thread(
                () -> {
                  try {
                    start.await();
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                  seat.end();
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(scripted.released).isEqualTo(round);
      ticker.advance(9 * SECOND); // The engine's own seat is lost: free for the next round.
    }
    assertThat(ticker.scheduled()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT0.999S", "PT-1S", "PT8784H0.000000001S", "P99999D"})
  void longestOutOfItsRange_isRefused(String longest) {
    assertThatThrownBy(() -> seats(Duration.parse(longest)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("longestSeat: ")
        .hasMessageEndingWith(" (expected: 1 second to 366 days)");
  }
}
