package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Seat;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests of seats as their holders see them. */
class SeatTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long HOLD = 10 * SECOND;

  /** The time for which a holder counts on a seat: a hundredth less than its store. */
  private static final long OWN_HOLD = HOLD - HOLD / 100;

  private final FakeTicker ticker = new FakeTicker(5 * SECOND);

  private static Policy seats(String name, long permits) {
    return Policy.concurrency(permits, Duration.ofNanos(HOLD)).name(name).build();
  }

  private RateLimiter limiter(Policy first, Policy... others) {
    return RateLimiter.builder(first, others).ticker(ticker).build();
  }

  @Test
  void releasedSeat_isFreeOnce() {
    RateLimiter limiter = limiter(seats("s", 2));
    Seat first = limiter.seat("k");
    Seat second = limiter.seat("k");
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(first.isHeld()).isTrue();
    assertThat(first.release()).isTrue();
    assertThat(first.isHeld()).isFalse();
    assertThat(first.release()).isFalse();
    first.close();
    assertThat(limiter.seat("k").granted()).isTrue();
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(second.isHeld()).isTrue();
    assertThat(first.renew()).isFalse();
  }

  @Test
  void seatOfATry_isFreeAfterIt() {
    RateLimiter limiter = limiter(seats("s", 1));
    for (int i = 0; i < 3; i++) {
      try (Seat seat = limiter.seat("k")) {
        assertThat(seat.granted()).isTrue();
        assertThat(limiter.seat("k").granted()).isFalse();
      }
    }
  }

  @Test
  void refusedSeat_isNotHeld_andGivesNothingBack() {
    RateLimiter limiter = limiter(seats("s", 3));
    Seat held = limiter.seat("k", 2);
    Seat refused = limiter.seat("k", 2);
    assertThat(refused.granted()).isFalse();
    assertThat(refused.decision().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.decision().retryAfterNanos()).isBetween(HOLD - 1, HOLD);
    assertThat(refused.isHeld()).isFalse();
    assertThat(refused.heldNanos()).isZero();
    assertThat(refused.renew()).isFalse();
    assertThat(refused.release()).isFalse();
    assertThat(limiter.seat("k", 2).granted()).isFalse();
    assertThat(held.release()).isTrue();
    assertThat(limiter.seat("k", 3).granted()).isTrue();
  }

  @Test
  void holder_countsOnAHundredthLessThanItsStore() {
    RateLimiter limiter = limiter(seats("s", 1));
    Seat seat = limiter.seat("k");
    assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD);
    ticker.advance(OWN_HOLD - 1);
    assertThat(seat.isHeld()).isTrue();
    ticker.advance(1);
    assertThat(seat.isHeld()).isFalse();
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(seat.renew()).as("before another has it").isTrue();
    assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD);
  }

  @Test
  void renewedSeat_isHeldForAnotherHold() {
    RateLimiter limiter = limiter(seats("s", 1));
    Seat seat = limiter.seat("k");
    for (int i = 0; i < 10; i++) {
      ticker.advance(HOLD / 3);
      assertThat(seat.renew()).isTrue();
      assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD);
      assertThat(limiter.seat("k").granted()).isFalse();
    }
    assertThat(seat.release()).isTrue();
    assertThat(limiter.seat("k").granted()).isTrue();
  }

  @Test
  void lostSeat_isNeverHeldAgain_andFreesNoOthers() {
    RateLimiter limiter = limiter(seats("s", 1));
    Seat lost = limiter.seat("k");
    ticker.advance(HOLD);
    Seat next = limiter.seat("k");
    assertThat(next.granted()).isTrue();
    assertThat(lost.renew()).isFalse();
    assertThat(lost.release()).isFalse();
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(next.release()).isTrue();
    assertThat(lost.renew()).isFalse();
    assertThat(lost.isHeld()).isFalse();
    ticker.advance(-HOLD);
    assertThat(lost.renew()).isFalse();
    assertThat(lost.isHeld()).isFalse();
  }

  @Test
  void severalPolicies_giveBackTheirSeats_andKeepTheirRates() {
    Policy rate = Policy.builder(Quota.perHour(3)).name("rate").build();
    RateLimiter limiter = limiter(seats("few", 1), rate, seats("many", 5));
    for (int i = 0; i < 3; i++) {
      try (Seat seat = limiter.seat("k")) {
        assertThat(seat.granted()).isTrue();
        assertThat(limiter.seat("k").decision().policy()).isEqualTo(i < 2 ? "few" : "rate");
        assertThat(seat.renew()).isTrue();
      }
    }
    assertThat(limiter.seat("k").decision().policy()).isEqualTo("rate");
    limiter.replace(seats("few", 1), seats("many", 5));
    assertThat(limiter.seat("k").granted()).as("refusals by a rate left no seat").isTrue();
  }

  @Test
  void oneOfTwoSeatsIsLost_theOtherIsGivenBack() {
    Policy brief = Policy.concurrency(2, Duration.ofNanos(HOLD / 10)).name("brief").build();
    RateLimiter limiter = limiter(seats("long", 1), brief);
    Seat seat = limiter.seat("k");
    assertThat(seat.heldNanos()).isEqualTo(HOLD / 10 - HOLD / 1000);
    ticker.advance(HOLD / 10);
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(seat.renew()).isFalse();
    assertThat(limiter.seat("k").granted()).as("what is left of it").isTrue();
  }

  @Test
  void loweredLimit_keepsSeats_andGivesNoneOutUntilEnoughAreBack() {
    RateLimiter limiter = limiter(seats("s", 2));
    Seat first = limiter.seat("k");
    Seat second = limiter.seat("k");
    limiter.replace(seats("s", 1));
    assertThat(first.renew()).isTrue();
    assertThat(first.release()).isTrue();
    assertThat(limiter.seat("k").granted()).isFalse();
    assertThat(second.release()).isTrue();
    assertThat(limiter.seat("k").granted()).isTrue();
  }

  @Test
  void policyThatIsGone_holdsNoSeat() {
    Policy rate = Policy.builder(Quota.perHour(3)).name("rate").build();
    RateLimiter limiter = limiter(seats("s", 1));
    Seat renewed = limiter.seat("k");
    limiter.replace(rate);
    assertThat(renewed.renew()).isFalse();
    assertThat(renewed.isHeld()).isFalse();
    limiter.replace(seats("other", 1));
    Seat other = limiter.seat("k");
    limiter.replace(seats("third", 1));
    assertThat(other.renew()).isFalse();
  }

  @Test
  void changedHold_isNeverHeldByMoreThanTheLimit() {
    for (long hold : new long[] {HOLD / 5, 5 * HOLD}) {
      RateLimiter limiter = limiter(seats("s", 1));
      Seat seat = limiter.seat("k");
      ticker.advance(SECOND);
      limiter.replace(Policy.concurrency(1, Duration.ofNanos(hold)).name("s").build());
      ticker.advance(SECOND);
      boolean renewed = seat.renew();
      for (int i = 0; i < 60 && seat.isHeld(); i++) {
        assertThat(limiter.seat("k").granted()).as("%s, renewed %s", hold, renewed).isFalse();
        ticker.advance(SECOND);
      }
    }
  }

  @Test
  void limiterWithoutSeats_refusesToGiveThem() {
    RateLimiter limiter = limiter(Policy.of(Quota.perHour(3)));
    assertThatThrownBy(() -> limiter.seat("k"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("policies: none of concurrency (expected: one at least, for seats)");
    assertThatThrownBy(() -> limiter.seatAsync("k", 1, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(limiter.peek("k", 3).allowed()).as("nothing was charged").isTrue();
  }

  @Test
  void renewalWithoutAnAnswer_changesNothing() {
    LateStore store = new LateStore();
    RateLimiter limiter = RateLimiter.builder(seats("s", 1)).ticker(ticker).store(store).build();
    CompletableFuture<Seat> answer = limiter.seatAsync("k", 1, Duration.ZERO);
    ticker.advance(SECOND); // It counts from when it was sent.
    store.answer();
    Seat seat = answer.join();
    assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD - SECOND);
    CompletableFuture<Boolean> renewed = seat.renewAsync();
    assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD - SECOND);
    ticker.advance(SECOND);
    store.answer();
    assertThat(renewed).isCompletedWithValue(true);
    assertThat(seat.heldNanos()).isEqualTo(OWN_HOLD - SECOND);

    CompletableFuture<Boolean> pending = seat.renewAsync();
    CompletableFuture<Boolean> released = seat.releaseAsync();
    assertThat(seat.isHeld()).isFalse();
    store.answer();
    assertThat(released).isCompletedWithValue(true);
    assertThat(pending).isCompletedWithValue(false);
    assertThat(seat.isHeld()).isFalse();
  }
}
