package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seats that clients keep, renewed and given back at the engine that gave them and at others. */
class SeatsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long HOLD = 10 * SECOND;
  private static final byte[] SECRET = "a secret of both".getBytes(StandardCharsets.UTF_8);
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: exports
          rate_limit: {concurrency: %s, hold: 10s, store: shared}
        - key: here
          rate_limit: {concurrency: 2, hold: 10s, store: local}
        - key: requests
          rate_limit: {unit: hour, requests_per_unit: 3, store: shared}
        - key: line
          rate_limit:
            {concurrency: 1, hold: 10s, on_limit: {queue: {requests: 5, wait: 2s}}}
        - key: watched
          shadow_mode: true
          rate_limit: {concurrency: 1}
      """;

  private final FakeTicker ticker = new FakeTicker();

  /** The store of all engines, beside one of their own. */
  private final MemoryStore shared = new MemoryStore();

  private final Engine one = engine(SECRET);
  private final Engine two = engine(SECRET);

  private Engine engine(byte[] secret) {
    Engine engine =
        Engine.builder(RoutedStore.of(new MemoryStore(), shared))
            .ticker(ticker)
            .holds(HoldSettings.of(secret, Duration.ofMinutes(10)))
            .build();
    engine.apply(Fixture.rules(RULES.formatted(2)));
    return engine;
  }

  private static Request request(String... keys) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (String key : keys) {
      descriptors.add(Descriptor.of(key, "x"));
    }
    return new Request("d", descriptors, 1);
  }

  private static <T> T got(Consumer<Consumer<? super T>> call) {
    AtomicReference<T> answer = new AtomicReference<>();
    call.accept(answer::set);
    return Objects.requireNonNull(answer.get(), "no answer");
  }

  private static SeatAnswer acquire(Engine engine, String... keys) {
    return got(done -> engine.seats().acquire(request(keys), done));
  }

  private static SeatOutcome release(Engine engine, SeatAnswer seat) {
    return got(done -> engine.seats().read(seat.seat()).release(done));
  }

  private static SeatOutcome renew(Engine engine, SeatAnswer seat) {
    return got(done -> engine.seats().read(seat.seat()).renew(done));
  }

  @Test
  void seatOfASharedStore_isGivenBackAtAnotherEngine_once() {
    SeatAnswer first = acquire(one, "exports");
    SeatAnswer second = acquire(two, "exports");
    assertThat(first.holdNanos()).isEqualTo(HOLD);
    assertThat(first.seat()).isNotEqualTo(second.seat());
    SeatAnswer third = acquire(one, "exports");
    assertThat(third.answer().allowed()).isFalse();
    assertThat(third.seat()).isEmpty();
    assertThat(release(two, first)).isEqualTo(SeatOutcome.DONE);
    assertThat(release(one, first)).isEqualTo(SeatOutcome.LOST);
    assertThat(acquire(one, "exports").answer().allowed()).isTrue();
    assertThat(acquire(two, "exports").answer().allowed()).isFalse();
    assertThat(one.seats().metrics()).isEqualTo(new SeatMetrics(2, 1, 0, 0, 1, 0, 0));
    assertThat(two.seats().metrics()).isEqualTo(new SeatMetrics(1, 1, 0, 1, 0, 0, 0));
  }

  @Test
  void seat_isHeldAsLongAsItIsRenewed_andThenLost() {
    SeatAnswer seat = acquire(one, "exports");
    SeatAnswer other = acquire(one, "exports");
    for (int i = 0; i < 5; i++) {
      ticker.advance(HOLD - SECOND);
      assertThat(renew(i % 2 == 0 ? two : one, seat)).isEqualTo(SeatOutcome.DONE);
    }
    assertThat(renew(one, other)).isEqualTo(SeatOutcome.LOST);
    ticker.advance(HOLD);
    assertThat(renew(one, seat)).isEqualTo(SeatOutcome.LOST);
    assertThat(release(one, seat)).isEqualTo(SeatOutcome.LOST);
    assertThat(acquire(one, "exports").answer().allowed()).isTrue();
    assertThat(acquire(one, "exports").answer().allowed()).isTrue();
    assertThat(acquire(one, "exports").answer().allowed()).isFalse();
  }

  @Test
  void requestWithARate_takesAllOrNothing_andGivesBackItsSeatAlone() {
    for (int i = 0; i < 3; i++) {
      SeatAnswer seat = acquire(one, "exports", "requests");
      assertThat(seat.answer().allowed()).isTrue();
      assertThat(release(two, seat)).isEqualTo(SeatOutcome.DONE);
    }
    assertThat(acquire(one, "exports", "requests").answer().allowed()).isFalse();
    SeatAnswer first = acquire(one, "exports");
    SeatAnswer second = acquire(one, "exports");
    assertThat(first.answer().allowed() && second.answer().allowed()).isTrue();
  }

  @Test
  void seatOfALocalStore_isLostAtAnotherEngine_andNothingIsFreedThere() {
    SeatAnswer seat = acquire(one, "here");
    assertThat(acquire(two, "here").answer().allowed()).isTrue();
    assertThat(release(two, seat)).isEqualTo(SeatOutcome.LOST);
    assertThat(acquire(two, "here").answer().allowed()).isTrue();
    assertThat(acquire(two, "here").answer().allowed()).isFalse();
    assertThat(renew(one, seat)).isEqualTo(SeatOutcome.DONE);
    assertThat(release(one, seat)).isEqualTo(SeatOutcome.DONE);
  }

  @Test
  void smallerLimit_takesNoSeatAway() {
    SeatAnswer first = acquire(one, "exports");
    SeatAnswer second = acquire(one, "exports");
    one.apply(Fixture.rules(RULES.formatted(1)));
    assertThat(renew(one, first)).isEqualTo(SeatOutcome.DONE);
    assertThat(renew(one, second)).isEqualTo(SeatOutcome.DONE);
    assertThat(release(one, first)).isEqualTo(SeatOutcome.DONE);
    assertThat(acquire(one, "exports").answer().allowed()).isFalse();
    assertThat(release(one, second)).isEqualTo(SeatOutcome.DONE);
    assertThat(acquire(one, "exports").answer().allowed()).isTrue();
  }

  @Test
  void requestWithoutSuchALimit_hasASeatThatDoesNothing() {
    SeatAnswer seat = acquire(one, "requests");
    assertThat(seat.answer().allowed()).isTrue();
    assertThat(seat.holdNanos()).isZero();
    assertThat(renew(two, seat)).isEqualTo(SeatOutcome.DONE);
    assertThat(release(two, seat)).isEqualTo(SeatOutcome.DONE);
    assertThat(acquire(one, "requests", "watched").answer().allowed()).isTrue();
    assertThat(acquire(one, "requests").answer().allowed()).isTrue();
    assertThat(acquire(one, "requests").answer().allowed()).isFalse();
  }

  @Test
  void answerInTheSameProcess_hasItsSeatsWithoutAText() {
    Answer answer = one.decide(request("exports", "requests"));
    TakenSeat seat = Objects.requireNonNull(one.seats().of(request("exports", "requests"), answer));
    assertThat(seat.holdNanos()).isEqualTo(HOLD);
    assertThat(SeatsTest.<SeatOutcome>got(done -> seat.renew(done))).isEqualTo(SeatOutcome.DONE);
    assertThat(SeatsTest.<SeatOutcome>got(done -> seat.release(done))).isEqualTo(SeatOutcome.DONE);
    assertThat(SeatsTest.<SeatOutcome>got(done -> seat.release(done))).isEqualTo(SeatOutcome.LOST);
    assertThat(one.seats().of(request("requests"), one.decide(request("requests")))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "AAAA", "é"})
  void textThatIsNoSeat_isAnError(String text) {
    assertThatThrownBy(() -> one.seats().read(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("seat: ");
    assertThatThrownBy(() -> one.seats().read(text))
        .hasMessageEndingWith("(expected: the text of a granted seat, unchanged)");
  }

  @Test
  void holdAndSeatOfAnotherKey_areErrors() {
    String hold =
        SeatsTest.<dev.weir.engine.holds.HoldAnswer>got(
                done -> one.holds().hold(request("requests"), done))
            .hold();
    assertThatThrownBy(() -> one.seats().read(hold))
        .hasMessage("seat: of version 1 (expected: the text of a granted seat, unchanged)");
    SeatAnswer seat = acquire(one, "exports");
    assertThatThrownBy(() -> one.holds().settle(seat.seat(), List.of(1L), done -> {}))
        .hasMessage("hold: of version 2 (expected: the text of a granted hold, unchanged)");
    Engine other = engine("another secret".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> other.seats().read(seat.seat()))
        .hasMessageContaining("not signed by this server's key");
  }

  @Test
  void charge_isNoSeat() {
    SeatAnswer refused = got(done -> one.seats().acquire(request("exports").charging(), done));
    assertThat(refused.answer().error())
        .isEqualTo("charge: true (expected: false, since a seat is charged if it fits)");
  }

  @Test
  void requestsThatWait_haveTheSeatInTheirOrder() {
    List<Integer> turns = new ArrayList<>();
    Request request = request("line");
    Answer holder = one.decide(request);
    TakenSeat seat = Objects.requireNonNull(one.seats().of(request, holder));
    List<TakenSeat> taken = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      Answer refused = one.decide(request);
      Ticket unused =
          one.enqueue(
              request,
              refused,
              2 * SECOND,
              answer -> {
                turns.add(answer.allowed() ? number : -1 - number);
                if (answer.allowed()) {
                  taken.add(Objects.requireNonNull(one.seats().of(request, answer)));
                }
              });
    }
    ticker.advance(SECOND / 10);
    assertThat(turns).isEmpty();
    seat.release(done -> {});
    ticker.advance(SECOND / 10);
    assertThat(turns).containsExactly(0);
    taken.get(0).release(done -> {});
    ticker.advance(SECOND / 10);
    assertThat(turns).containsExactly(0, 1);
    ticker.advance(3 * SECOND);
    assertThat(turns).containsExactly(0, 1, -3);
  }

  /** Never more than the limit is out, whatever is given back, renewed and lost, and where. */
  @Test
  void randomCallsAtTwoEngines_neverGiveOutMoreThanTheLimit() {
    int runs = 200;
    SplittableRandom seeds = Trials.random("SeatsTest.randomCalls", runs);
    for (int run = 0; run < runs; run++) {
      SplittableRandom choice = seeds.split();
      SeatsTest test = new SeatsTest();
      List<SeatAnswer> seats = new ArrayList<>();
      List<Long> until = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Engine engine = choice.nextBoolean() ? test.one : test.two;
        long now = test.ticker.nanos();
        int at = seats.isEmpty() ? -1 : choice.nextInt(seats.size());
        switch (choice.nextInt(4)) {
          case 0 -> {
            long out = until.stream().filter(end -> end > now).count();
            SeatAnswer seat = acquire(engine, "exports");
            assertThat(seat.answer().allowed()).isEqualTo(out < 2);
            if (out < 2) {
              seats.add(seat);
              until.add(now + HOLD);
            }
          }
          case 1 -> {
            if (at >= 0) {
              boolean held = until.get(at) > now;
              assertThat(release(engine, seats.get(at)))
                  .isEqualTo(held ? SeatOutcome.DONE : SeatOutcome.LOST);
              until.set(at, now);
            }
          }
          case 2 -> {
            if (at >= 0) {
              boolean held = until.get(at) > now;
              assertThat(renew(engine, seats.get(at)))
                  .isEqualTo(held ? SeatOutcome.DONE : SeatOutcome.LOST);
              until.set(at, held ? now + HOLD : until.get(at));
            }
          }
          default -> test.ticker.advance(choice.nextLong(1, HOLD / 2));
        }
      }
    }
  }
}
