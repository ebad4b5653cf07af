package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.Seat;
import dev.weir.Sharing;
import dev.weir.shared.FakeCall.Request;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Seats in a store whose answers are late, missing, or another process's. */
class SharedSeatsTest {
  private static final long MILLI = 1_000_000L;
  private static final long TIMEOUT = 100 * MILLI;
  private static final long HOLD = 10_000 * MILLI;
  private static final long KEY = 7;

  /** Taken at 5 ms, to be lost at the hold. */
  private static final long[] TAKEN = {1, 0, 1, 0, 10_000_000, 0, 5_000};

  private static final long[] REFUSED = {0, 1, 0, 1_000_000, 10_000_000, 0, 5_000};

  private final FakeTicker ticker = new FakeTicker();
  private final Counters counters = new Counters();
  private final StoreSettings settings =
      Settings.of(TIMEOUT, ticker, line -> {}, line -> {}, counters);
  private final FakeShard shard = new FakeShard();
  private final YoungLink link = new YoungLink();
  private final SharedStore store = new SharedStore(settings, link, new NoTime()) {};

  /** A link to members of which some may not know seats yet. */
  private final class YoungLink extends FakeLink {
    private boolean countsSeats = true;

    YoungLink() {
      super(settings, shard);
    }

    @Override
    public boolean countsSeats() {
      return countsSeats;
    }
  }

  /** Housekeeping that never runs: tests call the link's. */
  private static final class NoTime implements Housekeeping {
    @Override
    public void repeat(LongSupplier task) {}

    @Override
    public void wake() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void connect() {
    link.tick();
    shard.probes.forEach(probe -> probe.complete(FakeShard.fine()));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static Policy.Builder seats(long permits) {
    return Policy.concurrency(permits, Duration.ofNanos(HOLD)).name("seats");
  }

  private CompletableFuture<Decision> ask(Binding binding, long permits) {
    CompletableFuture<Decision> answer = new CompletableFuture<>();
    store.decide(
        new Charges().add(binding, KEY, permits),
        ticker.nanos(),
        decided -> answer.complete(decided.decision(0)));
    return answer;
  }

  private CompletableFuture<Renewal> renew(Binding binding, Decision seat) {
    CompletableFuture<Renewal> answer = new CompletableFuture<>();
    store.renew(binding, KEY, seat, ticker.nanos(), answer::complete);
    return answer;
  }

  private CompletableFuture<Long> release(Binding binding, Decision seat) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    store.refund(binding, KEY, 1, seat, ticker.nanos(), answer::complete);
    return answer;
  }

  private FakeShard.Sent lastCall() {
    return shard.calls.get(shard.calls.size() - 1);
  }

  private void pass(long nanos) {
    for (long passed = 0; passed < nanos; passed += 5 * MILLI) {
      ticker.advance(5 * MILLI);
      link.tick();
    }
  }

  @Test
  void seat_isRenewedAndReleasedByItsInstant() {
    Binding binding = store.bind("seats", seats(2).build(), 0);
    CompletableFuture<Decision> asked = ask(binding, 1);
    lastCall().answer(TAKEN);
    Decision seat = asked.join();
    assertThat(seat.atNanos()).isEqualTo(5 * MILLI);

    CompletableFuture<Renewal> renewed = renew(binding, seat);
    assertThat(lastCall().requests()).containsExactly(new Request("renew", 1, 0, 0, 5_000));
    assertThat(renewed).isNotDone();
    lastCall().answer(1);
    assertThat(renewed.join()).isEqualTo(Renewal.RENEWED);
    CompletableFuture<Renewal> lost = renew(binding, seat);
    lastCall().answer(0);
    assertThat(lost.join()).isEqualTo(Renewal.LOST);

    CompletableFuture<Long> released = release(binding, seat);
    assertThat(lastCall().requests()).containsExactly(new Request("refund", 1, 1, 0, 5_000));
    lastCall().answer(1);
    assertThat(released.join()).isEqualTo(1);
  }

  @Test
  void refusal_hasNothingToRenew() {
    Binding binding = store.bind("seats", seats(1).build(), 0);
    CompletableFuture<Decision> asked = ask(binding, 1);
    lastCall().answer(REFUSED);
    int calls = shard.calls.size();
    assertThat(renew(binding, asked.join()).join()).isEqualTo(Renewal.LOST);
    assertThat(shard.calls).hasSize(calls);
  }

  @Test
  void renewalWithoutAnAnswer_leavesTheSeatToItsHolder_untilItsOldEnd() {
    RateLimiter limiter = RateLimiter.builder(seats(1).build()).store(store).ticker(ticker).build();
    CompletableFuture<Seat> asked = limiter.seatAsync("k", 1, Duration.ZERO);
    lastCall().answer(TAKEN);
    Seat seat = asked.join();
    long end = ticker.nanos() + seat.heldNanos();

    CompletableFuture<Boolean> unanswered = seat.renewAsync();
    pass(TIMEOUT);
    assertThat(unanswered.join()).isTrue();
    assertThat(ticker.nanos() + seat.heldNanos()).isEqualTo(end);
    lastCall().answer(1); // Too late to be believed.
    assertThat(ticker.nanos() + seat.heldNanos()).isEqualTo(end);

    ticker.advance(end - ticker.nanos());
    assertThat(seat.isHeld()).isFalse();
  }

  @Test
  void seatTakenTooLate_isGivenBack() {
    Binding binding = store.bind("seats", seats(2).build(), 0);
    CompletableFuture<Decision> asked = ask(binding, 1);
    pass(TIMEOUT);
    assertThat(asked.join().reason()).isEqualTo(Reason.UNCERTAIN);
    shard.calls.get(0).answer(TAKEN);
    assertThat(lastCall().requests()).containsExactly(new Request("refund", 1, 1, 0, 5_000));
    lastCall().answer(1);
    assertThat(counters.late.sum()).isEqualTo(1);
  }

  /** One that were merged would be renewed and lost together. */
  @Test
  void equalRequests_areNotMerged() {
    Binding binding = store.bind("seats", seats(2).build(), 0);
    List<CompletableFuture<Decision>> asked = new ArrayList<>();
    store.together(
        () -> {
          for (int i = 0; i < 3; i++) {
            asked.add(ask(binding, 1));
          }
        });
    Request one = new Request("some", 1, 1, 1, 0);
    assertThat(lastCall().requests()).containsExactly(one, one, one);
    lastCall().answer(1, 0, 1, 0, 9, 0, 5_000, 1, 0, 0, 0, 9, 0, 5_001, 0, 1, 0, 9, 9, 0, 5_002);
    assertThat(asked).extracting(each -> each.join().allowed()).containsExactly(true, true, false);
    assertThat(asked.get(1).join().atNanos()).isEqualTo(5_001_000);
  }

  @Test
  void seatsOfAProcessWithoutTheStore_areKeptThere() {
    Policy policy =
        seats(4).sharing(Sharing.STRICT.onFailure(FailureMode.LOCAL).localShare(0.5)).build();
    Binding binding = store.bind("seats", policy, 0);
    List<Decision> taken = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      CompletableFuture<Decision> asked = ask(binding, 1);
      lastCall().fail(Failure.OOM);
      taken.add(asked.join());
    }
    assertThat(taken).extracting(Decision::allowed).containsExactly(true, true, false);
    int calls = shard.calls.size();
    for (Decision seat : taken.subList(0, 2)) {
      assertThat(renew(binding, seat).join()).isEqualTo(Renewal.RENEWED);
      assertThat(release(binding, seat).join()).isEqualTo(1);
      assertThat(release(binding, seat).join()).as("twice").isZero();
      assertThat(renew(binding, seat).join()).isEqualTo(Renewal.LOST);
    }
    assertThat(shard.calls).hasSize(calls);
  }

  @Test
  void storeThatDoesNotKnowSeatsYet_isNotAskedForThem_andDecidesTheRest() {
    Binding binding = store.bind("seats", seats(4).build(), 0);
    Binding rate = store.bind("rate", Policy.of(Quota.perSecond(5)), 0);
    CompletableFuture<Decision> seat = ask(binding, 1);
    lastCall().answer(TAKEN);
    link.countsSeats = false;
    int calls = shard.calls.size();

    Decision decided = ask(binding, 1).join();
    assertThat(decided.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(decided.cause()).isEqualTo("state");
    assertThat(renew(binding, seat.join()).join()).isEqualTo(Renewal.UNANSWERED);
    CompletableFuture<Charges> both = new CompletableFuture<>();
    store.decide(new Charges().add(rate, KEY, 1).add(binding, KEY, 1), 0, both::complete);
    assertThat(both.join().allowed()).isFalse();
    assertThat(shard.calls).hasSize(calls);

    CompletableFuture<Decision> other = ask(rate, 1);
    lastCall().answer(TAKEN);
    assertThat(other.join().allowed()).isTrue();
  }

  /** A refusal that were remembered would keep the seat empty for a while. */
  @Test
  void seatGivenBackByAnotherProcess_isThereAtOnce() {
    MemoryStore server = new MemoryStore();
    try (SharedStore one = MemoryShard.open(server, settings, ticker::nanos);
        SharedStore other = MemoryShard.open(server, settings, ticker::nanos)) {
      while (!one.available() || !other.available()) {
        Thread.onSpinWait();
      }
      RateLimiter ones = RateLimiter.builder(seats(1).build()).store(one).ticker(ticker).build();
      RateLimiter others =
          RateLimiter.builder(seats(1).build()).store(other).ticker(ticker).build();
      Seat first = ones.seat("k");
      assertThat(others.seat("k").granted()).isFalse();
      assertThat(first.renew()).isTrue();
      assertThat(first.release()).isTrue();
      Seat second = others.seat("k");
      assertThat(second.granted()).isTrue();
      assertThat(ones.seat("k").granted()).isFalse();
      ticker.advance(HOLD + MILLI);
      assertThat(ones.seat("k").granted()).isTrue();
      assertThat(second.renew()).isFalse();
    }
  }
}
