package dev.weir.client.internal.seat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.seats.SeatOutcome;
import dev.weir.shared.Clocks;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class SeatKeeperTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long HOLD = 30 * SECOND;

  private final FakeTicker ticker = new FakeTicker();
  private final FakeTicker wall = new FakeTicker();
  private final Clocks clocks = new Clocks(ticker, wall);
  private final List<List<String>> renewals = new ArrayList<>();
  private final List<List<String>> returns = new ArrayList<>();
  private SeatOutcome next = SeatOutcome.DONE;
  private final SeatKeeper keeper =
      new SeatKeeper(clocks, seats -> called(renewals, seats), seats -> called(returns, seats));

  private CompletionStage<List<SeatOutcome>> called(List<List<String>> calls, List<String> seats) {
    calls.add(seats);
    return CompletableFuture.completedStage(Collections.nCopies(seats.size(), next));
  }

  private KeptSeat take(String text) {
    return KeptSeat.of(keeper, text, HOLD, clocks.now());
  }

  private void advance(long nanos) {
    wall.advance(nanos);
    ticker.advance(nanos);
  }

  @Test
  void seat_isRenewedEachThirdOfItsHold_untilItIsGivenBack() {
    KeptSeat seat = take("a");
    advance(9 * SECOND);
    assertThat(renewals).isEmpty();
    advance(SECOND);
    assertThat(renewals).containsExactly(List.of("a"));
    for (int i = 0; i < 100; i++) {
      advance(5 * SECOND);
    }
    assertThat(renewals).hasSize(51);
    assertThat(seat.isHeld()).isTrue();
    assertThat(seat.release().join()).isTrue();
    assertThat(seat.release().join()).isFalse();
    assertThat(seat.isHeld()).isFalse();
    assertThat(returns).containsExactly(List.of("a"));
    advance(HOLD);
    assertThat(renewals).hasSize(51);
    assertThat(keeper.size()).isZero();
    assertThat(seat.lost()).isNotDone();
  }

  @Test
  void seatsThatAreNearlyDue_areRenewedInOneCall() {
    for (int i = 0; i < 5; i++) {
      KeptSeat unused = take("seat " + i);
      advance(SECOND);
    }
    advance(5 * SECOND);
    assertThat(renewals).hasSize(1);
    assertThat(renewals.get(0)).hasSize(5);
  }

  @Test
  void moreSeatsThanOneCallTakes_areRenewedInSeveral() {
    for (int i = 0; i < 2_500; i++) {
      KeptSeat unused = take("seat " + i);
    }
    advance(10 * SECOND);
    assertThat(renewals).hasSize(3).allMatch(seats -> seats.size() <= 1_000);
    assertThat(renewals.stream().flatMap(List::stream)).hasSize(2_500).doesNotHaveDuplicates();
  }

  @Test
  void renewalWithoutAnAnswer_isMadeAgain_andTheSeatEndsWithItsHold() {
    KeptSeat seat = take("a");
    next = SeatOutcome.UNCERTAIN;
    advance(10 * SECOND);
    advance(5 * SECOND);
    advance(5 * SECOND);
    assertThat(renewals).hasSize(3);
    assertThat(seat.isHeld()).isTrue();
    advance(9 * SECOND + SECOND * 7 / 10);
    assertThat(seat.isHeld()).as("a hundredth before the hold").isFalse();
    advance(5 * SECOND);
    assertThat(seat.lost()).isDone();
    assertThat(keeper.size()).isZero();
    int calls = renewals.size();
    advance(HOLD);
    assertThat(renewals).hasSize(calls);
    assertThat(returns).isEmpty();
  }

  @Test
  void lostSeat_isRenewedNoMore() {
    KeptSeat seat = take("a");
    KeptSeat other = take("b");
    assertThat(other.release().join()).isTrue();
    next = SeatOutcome.LOST;
    advance(10 * SECOND);
    assertThat(seat.lost()).isDone();
    assertThat(seat.isHeld()).isFalse();
    assertThat(seat.release().join()).isFalse();
    advance(HOLD);
    assertThat(renewals).containsExactly(List.of("a"));
  }

  @Test
  void wallClockThatShowsAPauseOfTheMachine_endsTheSeat() {
    KeptSeat seat = take("a");
    wall.advance(HOLD);
    assertThat(seat.isHeld()).isFalse();
  }

  @Test
  void seatWithoutAHold_isNeverRenewed() {
    KeptSeat seat = KeptSeat.of(keeper, "a", 0, clocks.now());
    advance(100 * HOLD);
    assertThat(seat.isHeld()).isTrue();
    assertThat(renewals).isEmpty();
  }

  @Test
  void close_givesAllSeatsBack() {
    KeptSeat first = take("a");
    KeptSeat second = take("b");
    keeper.close();
    assertThat(returns).containsExactlyInAnyOrder(List.of("a"), List.of("b"));
    assertThat(first.isHeld() || second.isHeld()).isFalse();
    KeptSeat late = take("c");
    assertThat(late.isHeld()).isFalse();
    assertThat(returns).contains(List.of("c"));
  }
}
