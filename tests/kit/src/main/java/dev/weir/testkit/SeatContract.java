package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The contract of every store for permits that are out until they are given back: {@link
 * Algorithm#CONCURRENCY}.
 *
 * <p>Changes of a key at one instant are counted a microsecond after each other, or a step of the
 * store's time, so that no two seats of a key were taken at the same time.
 */
public abstract class SeatContract extends RandomSeatContract {
  @Test
  void seatsOfAKey_areAtMostTheLimitAtOnce() {
    Store store = store();
    Binding binding = bind(store, 3);
    Set<Long> taken = new HashSet<>();
    for (int left = 2; left >= 0; left--) {
      Decision seat = take(store, binding, START);
      assertThat(seat.allowed()).isTrue();
      assertThat(seat.remaining()).isEqualTo(left);
      assertThat(seat.atNanos()).isBetween(START, START + 2 * changeNanos());
      assertThat(taken.add(seat.atNanos())).as("a time of its own").isTrue();
    }
    Decision refused = take(store, binding, START);
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.remaining()).isZero();
    assertThat(request(store, binding, "other", START, 3).allowed()).isTrue();
    assertThat(take(store, binding, START + HOLD / 2).allowed()).isFalse();
  }

  @Test
  void permitsThatNeverFit_areRefusedForever_andZeroAlwaysFit() {
    Store store = store();
    Binding binding = bind(store, 3);
    assertThat(request(store, binding, "k", START, 4).retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(request(store, binding, "k", START, 3).allowed()).isTrue();
    assertThat(request(store, binding, "k", START, 0).allowed()).isTrue();
    Binding none = store.bind("none", seats(0), START);
    assertThat(take(store, none, START).retryAfterNanos()).isEqualTo(Decision.NEVER);
  }

  @Test
  void release_freesTheSeatOnce() {
    Store store = store();
    Binding binding = bind(store, 2);
    Decision first = take(store, binding, START);
    Decision second = take(store, binding, START);
    assertThat(release(store, binding, first, START + steps(10))).isEqualTo(1);
    assertThat(release(store, binding, first, START + steps(10))).isZero();
    assertThat(peek(store, binding, "k", START + steps(20), 1).remaining()).isEqualTo(1);
    assertThat(take(store, binding, START + steps(20)).allowed()).isTrue();
    assertThat(release(store, binding, first, START + steps(30))).isZero();
    assertThat(take(store, binding, START + steps(30)).allowed()).isFalse();
    assertThat(release(store, binding, second, START + steps(40))).isEqualTo(1);
    assertThat(take(store, binding, START + steps(50)).allowed()).isTrue();
  }

  @Test
  void releaseAfterLoss_doesNotFreeAnothersSeat() {
    Store store = store();
    Binding binding = bind(store, 1);
    Decision lost = take(store, binding, START);
    long end = lost.atNanos() + HOLD;
    assertThat(take(store, binding, end).allowed()).isTrue();
    assertThat(release(store, binding, lost, end + steps(10))).isZero();
    assertThat(take(store, binding, end + steps(10)).allowed()).isFalse();
  }

  @Test
  void refusedRequest_hasNothingToGiveBackOrRenew() {
    Store store = store();
    Binding binding = bind(store, 1);
    Decision held = take(store, binding, START);
    Decision refused = take(store, binding, START + steps(10));
    assertThat(release(store, binding, refused, START + steps(20))).isZero();
    assertThat(renew(store, binding, refused, START + steps(20))).isFalse();
    assertThat(take(store, binding, START + steps(30)).allowed()).isFalse();
    assertThat(release(store, binding, held, START + steps(40))).isEqualTo(1);
  }

  @Test
  void seatThatIsNotRenewed_isFreeAtExactlyTheHold() {
    Store store = store();
    Binding binding = bind(store, 1);
    long taken = take(store, binding, START).atNanos();
    assertThat(taken).isEqualTo(START);
    assertThat(take(store, binding, taken + HOLD - steps(1)).allowed()).isFalse();
    assertThat(take(store, binding, taken + HOLD).allowed()).isTrue();
  }

  @Test
  void renewal_keepsTheSeatBeyondTheHold() {
    Store store = store();
    Binding binding = bind(store, 1);
    Decision seat = take(store, binding, START);
    for (int i = 1; i <= 5; i++) {
      assertThat(renew(store, binding, seat, START + i * HOLD / 2)).isTrue();
    }
    long renewed = START + 5 * HOLD / 2;
    assertThat(take(store, binding, renewed + HOLD - steps(1)).allowed()).isFalse();
    assertThat(renew(store, binding, seat, renewed + HOLD - steps(1))).isTrue();
    long end = renewed + HOLD - steps(1) + HOLD;
    assertThat(take(store, binding, end - steps(1)).allowed()).isFalse();
    assertThat(release(store, binding, seat, end - steps(1))).isEqualTo(1);
    assertThat(take(store, binding, end - steps(1)).allowed()).isTrue();
  }

  @Test
  void renewalAfterLossOrRelease_isRefused_andTakesNothing() {
    Store store = store();
    Binding binding = bind(store, 1);
    Decision lost = take(store, binding, START);
    assertThat(renew(store, binding, lost, START + HOLD)).isFalse();
    assertThat(renew(store, binding, lost, START + HOLD + steps(1))).isFalse();
    Decision released = take(store, binding, START + HOLD + steps(10));
    assertThat(released.allowed()).isTrue();
    assertThat(renew(store, binding, lost, START + HOLD + steps(20))).isFalse();
    assertThat(release(store, binding, released, START + HOLD + steps(20))).isEqualTo(1);
    assertThat(renew(store, binding, released, START + HOLD + steps(30))).isFalse();
    assertThat(take(store, binding, START + HOLD + steps(40)).allowed()).isTrue();
  }

  @Test
  void retryAfter_isTheEarliestPossibleLoss() {
    Store store = store();
    Binding binding = bind(store, 2);
    Decision first = take(store, binding, START);
    Decision second = take(store, binding, START + HOLD / 4);
    long now = START + HOLD / 2;
    assertThat(take(store, binding, now).retryAfterNanos()).isEqualTo(START + HOLD - now);
    assertThat(request(store, binding, "k", now, 2).retryAfterNanos())
        .isEqualTo(second.atNanos() + HOLD - now);
    assertThat(renew(store, binding, first, now)).isTrue(); // The second is the next to be lost.
    long later = now + HOLD / 8;
    assertThat(take(store, binding, later).retryAfterNanos())
        .isEqualTo(second.atNanos() + HOLD - later);
    assertThat(request(store, binding, "k", later, 2).retryAfterNanos())
        .isEqualTo(now + HOLD - later);
  }

  @Test
  void loweredLimit_takesNoSeatAway_andGivesNoneOutUntilEnoughAreBack() {
    Store store = store();
    Binding binding = bind(store, 3);
    List<Decision> held = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      held.add(take(store, binding, START + steps(10L * i)));
    }
    Binding lowered = bind(store, 1);
    long now = START + steps(100);
    for (Decision each : held) {
      assertThat(renew(store, lowered, each, now)).isTrue();
    }
    assertThat(take(store, lowered, now + steps(10)).allowed()).isFalse();
    assertThat(release(store, lowered, held.get(0), now + steps(20))).isEqualTo(1);
    assertThat(take(store, lowered, now + steps(30)).allowed()).isFalse();
    assertThat(release(store, lowered, held.get(1), now + steps(40))).isEqualTo(1);
    assertThat(take(store, lowered, now + steps(50)).allowed()).isFalse();
    assertThat(release(store, lowered, held.get(2), now + steps(60))).isEqualTo(1);
    assertThat(take(store, lowered, now + steps(70)).allowed()).isTrue();
    assertThat(take(store, bind(store, 2), now + steps(80)).allowed()).isTrue();
  }

  /** Processes may have different revisions of the rules in force. */
  @Test
  void changedHold_renewalsUnderEitherCountUnderBoth() {
    Store store = store();
    Binding old = bind(store, 2);
    Decision first = take(store, old, START);
    Policy longer = Policy.concurrency(2, Duration.ofNanos(2 * HOLD)).name("seats").build();
    Binding changed = store.bind("seats", longer, START);
    Decision second = take(store, changed, START + steps(10));
    assertThat(second.allowed()).isTrue();
    for (long now = START + HOLD / 2; now < START + 5 * HOLD; now += HOLD / 2) {
      assertThat(renew(store, old, first, now)).isTrue();
      assertThat(renew(store, changed, second, now)).isTrue();
      assertThat(take(store, changed, now + steps(10)).allowed()).isFalse();
      assertThat(take(store, old, now + steps(10)).allowed()).isFalse();
    }
    // Each ends with its own hold: the first half a hold later, the second one and a half later.
    assertThat(take(store, changed, START + 5 * HOLD + HOLD / 4).allowed()).isFalse();
    assertThat(take(store, changed, START + 6 * HOLD).allowed()).isTrue();
    assertThat(take(store, changed, START + 6 * HOLD + HOLD / 4).allowed()).isFalse();
    assertThat(take(store, changed, START + 7 * HOLD).allowed()).isTrue();
  }

  @Test
  void weightedSeats_areTakenAndGivenBackWhole() {
    Store store = store();
    Binding binding = bind(store, 5);
    Decision three = request(store, binding, "k", START, 3);
    assertThat(three.remaining()).isEqualTo(2);
    assertThat(request(store, binding, "k", START + steps(10), 3).allowed()).isFalse();
    Decision two = request(store, binding, "k", START + steps(20), 2);
    assertThat(two.allowed()).isTrue();
    assertThat(refund(store, binding, "k", 3, three, START + steps(30))).isEqualTo(3);
    assertThat(refund(store, binding, "k", 3, three, START + steps(40))).isZero();
    assertThat(request(store, binding, "k", START + steps(50), 4).allowed()).isFalse();
    assertThat(request(store, binding, "k", START + steps(60), 3).allowed()).isTrue();
    assertThat(refund(store, binding, "k", 5, two, START + steps(70))).isEqualTo(2);
  }

  @Test
  void requestOverARateAndSeats_takesAllOrNothing() {
    Store store = store();
    Binding binding = bind(store, 2);
    Policy perMinute = Policy.builder(Quota.perMinute(3)).name("rate").build();
    Binding rate = store.bind("rate", perMinute, START);
    for (int i = 0; i < 3; i++) {
      Charges both = both(store, rate, binding, START + steps(10L * i));
      assertThat(both.allowed()).isTrue();
      assertThat(release(store, binding, both.decision(1), START + steps(10 * i + 5))).isEqualTo(1);
    }
    assertThat(both(store, rate, binding, START + steps(50)).allowed()).isFalse();
    assertThat(peek(store, binding, "k", START + steps(60), 2).allowed()).isTrue();

    assertThat(request(store, binding, "k", START + steps(70), 2).allowed()).isTrue();
    Binding other = store.bind("other rate", perMinute, START);
    assertThat(both(store, other, binding, START + steps(80)).allowed()).isFalse();
    assertThat(peek(store, other, "k", START + steps(90), 1).remaining()).isEqualTo(3);
  }

  private static Charges both(Store store, Binding rate, Binding seats, long nowNanos) {
    return decide(store, new Charges().add(rate, key("k"), 1).add(seats, key("k"), 1), nowNanos);
  }

  /** A store that gives nothing back by number takes no seat away either. */
  @Test
  void releaseByNumber_givesBackTheSeatThatWouldBeLostFirst() {
    Store store = store();
    Binding binding = bind(store, 2);
    Decision first = take(store, binding, START);
    Decision second = take(store, binding, START + HOLD / 4);
    assertThat(renew(store, binding, first, START + HOLD / 2)).isTrue();
    if (!refundsNewest()) {
      assertThat(releaseFirst(store, binding, 2, START + HOLD / 2 + steps(10))).isZero();
      assertThat(renew(store, binding, first, START + HOLD / 2 + steps(20))).isTrue();
      assertThat(renew(store, binding, second, START + HOLD / 2 + steps(30))).isTrue();
      return;
    }
    assertThat(releaseFirst(store, binding, 1, START + HOLD / 2 + steps(10))).isEqualTo(1);
    assertThat(renew(store, binding, second, START + HOLD / 2 + steps(20))).isFalse();
    assertThat(renew(store, binding, first, START + HOLD / 2 + steps(30))).isTrue();
    assertThat(releaseFirst(store, binding, 5, START + HOLD / 2 + steps(40))).isEqualTo(1);
    assertThat(releaseFirst(store, binding, 5, START + HOLD / 2 + steps(50))).isZero();
  }

  @Test
  void manyThreads_neverHoldMoreThanTheLimit() throws Exception {
    Store store = store();
    Binding binding = bind(store, 3);
    AtomicLong held = new AtomicLong();
    AtomicLong beyond = new AtomicLong();
    AtomicLong taken = new AtomicLong();
    inParallel(
        4,
        thread -> {
          for (int i = 0; i < times(2_000); i++) {
            Decision seat = take(store, binding, START);
            if (seat.allowed()) {
              beyond.addAndGet(held.incrementAndGet() > 3 ? 1 : 0);
              held.decrementAndGet();
              taken.addAndGet(release(store, binding, seat, START));
            }
          }
        });
    assertThat(beyond).hasValue(0);
    assertThat(taken.get()).isPositive();
    assertThat(peek(store, binding, "k", START + HOLD / 2, 3).allowed()).isTrue();
  }
}
