package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.AfterCrash;
import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.Seat;
import dev.weir.Store;
import dev.weir.shared.SharedBinding;
import dev.weir.testkit.Trials;
import dev.weir.wire.testkit.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Seats in Redis, by the function and by the script. */
class RedisSeatsTest extends FaultTest {
  private static final long MICRO = 1_000;
  private static final long SECOND = 1_000_000_000L;
  private static final long HOLD = 10 * SECOND;
  private static final long START = 1_000_000 * HOLD;
  private static final long KEY = 7;

  private static Policy.Builder seats(long permits, Duration hold) {
    return Policy.concurrency(permits, hold).name("seats");
  }

  private static Policy two() {
    return seats(2, Duration.ofNanos(HOLD)).build();
  }

  private RedisServer server(boolean functions) {
    RedisServer server = closing(RedisServer.start());
    if (!functions && !server.command("COMMAND", "INFO", "fcall").equals("[null]")) {
      server.command("ACL", "SETUSER", "default", "-fcall");
    }
    return server;
  }

  private RedisStore timed(RedisServer server) {
    RedisStore store =
        closing(
            RedisStore.builder(server.uri())
                .timeout(LONG)
                .callersClock()
                .afterCrash(AfterCrash.DENY)
                .log(log::add)
                .build());
    Redis.await(store::available);
    return store;
  }

  private static <T> T join(CompletableFuture<T> done) {
    return done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static Decision take(Store store, Binding binding, long permits, long at) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(new Charges().add(binding, KEY, permits), at, done::complete);
    return join(done).decision(0);
  }

  private static Decision peek(Store store, Binding binding, long permits, long at) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(new Charges().add(binding, KEY, permits).peek(), at, done::complete);
    return join(done).decision(0);
  }

  private static long refund(
      Store store, Binding binding, long permits, Decision charged, long at) {
    CompletableFuture<Long> done = new CompletableFuture<>();
    store.refund(binding, KEY, permits, charged, at, done::complete);
    return join(done);
  }

  private static Renewal renew(Store store, Binding binding, Decision charged, long at) {
    CompletableFuture<Renewal> done = new CompletableFuture<>();
    store.renew(binding, KEY, charged, at, done::complete);
    return join(done);
  }

  private static void assertSame(Decision actual, Decision expected) {
    assertThat(actual.reason()).isEqualTo(expected.reason());
    assertThat(actual.remaining()).isEqualTo(expected.remaining());
    assertThat(actual.atNanos()).isEqualTo(expected.atNanos());
    assertThat(actual.retryAfterNanos()).isEqualTo(expected.retryAfterNanos());
    assertThat(actual.resetAfterNanos()).isEqualTo(expected.resetAfterNanos());
  }

  /** The store in this process shares no code with the script. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anyOperations_areAnsweredAsByTheStoreInThisProcess(boolean functions) {
    SplittableRandom random = Trials.random("seats in Redis, functions " + functions);
    RedisStore redis = timed(server(functions));
    try (MemoryStore memory = new MemoryStore()) {
      for (int trial = 0; trial < 12; trial++) {
        Policy policy = seats(random.nextLong(1, 9), Duration.ofNanos(HOLD)).build();
        Binding there = redis.bind("trial " + trial, policy, START);
        Binding here = memory.bind("trial " + trial, policy, START);
        List<Decision> taken = new ArrayList<>();
        long now = START;
        for (int i = 0; i < 150; i++) {
          now += random.nextInt(3) == 0 ? random.nextLong(HOLD / 3) / MICRO * MICRO : 0;
          long permits = random.nextLong(1, 4);
          int what = taken.isEmpty() ? 0 : random.nextInt(5);
          if (what < 2) {
            Decision decision = take(redis, there, permits, now);
            assertSame(decision, take(memory, here, permits, now));
            if (decision.allowed()) {
              taken.add(decision);
            }
          } else if (what == 2) {
            Decision charged = taken.get(random.nextInt(taken.size()));
            assertThat(refund(redis, there, permits, charged, now))
                .isEqualTo(refund(memory, here, permits, charged, now));
          } else if (what == 3) {
            Decision charged = taken.get(random.nextInt(taken.size()));
            assertThat(renew(redis, there, charged, now))
                .isEqualTo(renew(memory, here, charged, now));
          }
          assertSame(peek(redis, there, permits, now), peek(memory, here, permits, now));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void seatOfOneProcess_isRenewedAndReleasedByTheOther_andIsFreeAtOnce(boolean functions) {
    RedisServer server = server(functions);
    RedisStore one = timed(server);
    RedisStore other = timed(server);
    Binding ones = one.bind("shared", two(), START);
    Binding others = other.bind("shared", two(), START);
    Decision first = take(one, ones, 1, START);
    Decision second = take(one, ones, 1, START);
    assertThat(second.atNanos()).as("unique").isEqualTo(first.atNanos() + MICRO);
    assertThat(take(other, others, 1, START).reason()).isEqualTo(Reason.OVER_LIMIT);

    assertThat(renew(other, others, first, START + HOLD / 2)).isEqualTo(Renewal.RENEWED);
    assertThat(refund(other, others, 1, second, START + HOLD / 2)).isEqualTo(1);
    assertThat(take(one, ones, 1, START + HOLD / 2).allowed()).isTrue();
    assertThat(refund(other, others, 1, second, START + HOLD / 2)).as("twice").isZero();
    assertThat(renew(one, ones, second, START + HOLD / 2)).isEqualTo(Renewal.LOST);
    assertThat(take(one, ones, 1, START + HOLD).allowed()).as("the first is renewed").isFalse();
    assertThat(take(one, ones, 1, START + 2 * HOLD).allowed()).isTrue();
    assertThat(renew(one, ones, first, START + 2 * HOLD)).isEqualTo(Renewal.LOST);
  }

  /** Equal requests that wait together are sent as one, but not those that take seats. */
  @Test
  void requestsSentTogether_takeSeatsOfTheirOwn() {
    RedisStore store = timed(server(true));
    Binding binding = store.bind("together", seats(5, WINDOW).build(), START);
    List<CompletableFuture<Charges>> asked = new ArrayList<>();
    store.together(
        () -> {
          for (int i = 0; i < 6; i++) {
            CompletableFuture<Charges> done = new CompletableFuture<>();
            store.decide(new Charges().add(binding, KEY, 1), START, done::complete);
            asked.add(done);
          }
        });
    List<Decision> taken = new ArrayList<>();
    for (CompletableFuture<Charges> each : asked) {
      if (join(each).allowed()) {
        taken.add(each.join().decision(0));
      }
    }
    assertThat(taken).hasSize(5);
    assertThat(taken.stream().map(Decision::atNanos).distinct()).hasSize(5);
    for (Decision each : taken) {
      assertThat(refund(store, binding, 1, each, START)).isEqualTo(1);
      assertThat(refund(store, binding, 1, each, START)).as("twice").isZero();
    }
  }

  @Test
  void lostCounts_areSeatsThatAreTaken_andTheRealOnesAreLost() {
    RedisServer server = server(true);
    RedisStore store = timed(server);
    Binding binding = store.bind("flushed", two(), START);
    Decision before = take(store, binding, 1, START);
    server.command("FLUSHALL");
    long lost = START + SECOND;
    assertThat(take(store, binding, 1, lost).reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(renew(store, binding, before, lost)).isEqualTo(Renewal.LOST);
    assertThat(refund(store, binding, 1, before, lost)).isZero();
    assertThat(take(store, binding, 1, lost + HOLD - MICRO).allowed()).isFalse();
    assertThat(take(store, binding, 2, lost + HOLD + MICRO).allowed()).isTrue();
  }

  /** A process that still has the earlier hold renews the seat for those who have the new one. */
  @Test
  void hold_isChanged_andARenewalUnderTheOldOneCountsUnderBoth() {
    RedisServer server = server(true);
    RedisStore old = timed(server);
    RedisStore fresh = timed(server);
    Binding olds = old.bind("changed", two(), START);
    Decision first = take(old, olds, 1, START);
    Policy longer = seats(2, Duration.ofNanos(2 * HOLD)).build();
    Binding news = fresh.bind("changed", longer, START);
    Decision second = take(fresh, news, 1, START);
    assertThat(second.allowed()).isTrue();
    for (long at = START; at <= START + 5 * HOLD; at += HOLD / 2) {
      assertThat(renew(old, olds, first, at)).isEqualTo(Renewal.RENEWED);
      assertThat(renew(fresh, news, second, at)).isEqualTo(Renewal.RENEWED);
      assertThat(take(fresh, news, 1, at).allowed()).as("after %d", at - START).isFalse();
      assertThat(take(old, olds, 1, at).allowed()).as("after %d", at - START).isFalse();
    }
    // Each ends with its own hold.
    assertThat(take(fresh, news, 1, START + 6 * HOLD - MICRO).allowed()).isFalse();
    assertThat(take(fresh, news, 1, START + 6 * HOLD + 9 * MICRO).allowed()).isTrue();
    assertThat(take(fresh, news, 1, START + 7 * HOLD - MICRO).allowed()).isFalse();
    assertThat(take(fresh, news, 1, START + 7 * HOLD + 9 * MICRO).allowed()).isTrue();
  }

  @Test
  void algorithm_isChanged_andSeatsThatAreOutCount() {
    RedisStore store = timed(server(true));
    Binding binding = store.bind("rate", two(), START);
    assertThat(take(store, binding, 2, START).allowed()).isTrue();
    Policy rate =
        Policy.builder(new Quota(2, HOLD)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    Binding rates = store.bind("rate", rate, START);
    assertThat(take(store, rates, 1, START + HOLD / 2).allowed()).isFalse();
    assertThat(take(store, rates, 2, START + HOLD).allowed()).isTrue();
    assertThat(take(store, binding, 1, START + HOLD + MICRO).allowed()).isFalse();
    assertThat(take(store, binding, 1, START + 2 * HOLD + MICRO).allowed()).isTrue();
  }

  @Test
  void manySeats_areKeptApart() {
    RedisStore store = timed(server(true));
    Binding binding = store.bind("many", seats(Policy.MOST_SEATS, WINDOW).build(), START);
    Decision rest = take(store, binding, Policy.MOST_SEATS - 1_000, START);
    List<Decision> taken = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      taken.add(take(store, binding, 1, START));
    }
    assertThat(take(store, binding, 1, START).allowed()).isFalse();
    assertThat(renew(store, binding, taken.get(500), START + SECOND)).isEqualTo(Renewal.RENEWED);
    for (Decision each : taken) {
      assertThat(refund(store, binding, 1, each, START + SECOND)).isEqualTo(1);
    }
    assertThat(refund(store, binding, Policy.MOST_SEATS, rest, START + SECOND))
        .isEqualTo(Policy.MOST_SEATS - 1_000);
    assertThat(take(store, binding, Policy.MOST_SEATS, START + SECOND).allowed()).isTrue();
  }

  @Test
  void storeAway_leavesTheSeatHeldForItsTime_andItIsRenewedAgainAfterwards() {
    RedisServer server = server(true);
    RedisStore store = store(server.uri(), TIMEOUT);
    Redis.await(store::available);
    RateLimiter limiter = limiter(seats(1, WINDOW), store);
    Seat seat = limiter.seat("k");
    assertThat(seat.granted()).isTrue();
    server.pause();
    long before = seat.heldNanos();
    assertThat(seat.renew()).as("no answer").isTrue();
    assertThat(seat.heldNanos()).isPositive().isLessThan(before);
    server.resume();
    Redis.await(
        () -> {
          long left = seat.heldNanos();
          return seat.renew() && seat.heldNanos() > left;
        });
    assertThat(seat.release()).isTrue();
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
  }

  @Test
  void keyOfSeats_expiresWithTheLast_andAtOnceWhenAllAreGivenBack() {
    RedisServer server = server(true);
    RedisStore store = store(server.uri(), LONG);
    Redis.await(store::available);
    RateLimiter limiter = limiter(seats(2, WINDOW), store);
    Seat one = limiter.seat("k");
    Seat two = limiter.seat("k");
    Binding binding = store.bind("seats", limiter.policy(), 0);
    long key = store.fingerprint().of("k");
    String name =
        new String(RedisCode.of((SharedBinding) binding).key(key), StandardCharsets.UTF_8);
    assertThat(Long.parseLong(server.command("PTTL", name)))
        .as("rounded up to the next millisecond")
        .isBetween(WINDOW.toMillis() - 60_000, WINDOW.toMillis() + 2);
    assertThat(one.release()).isTrue();
    assertThat(limiter.tryAcquire("k").remaining()).isZero();
    assertThat(two.release()).isTrue();
    assertThat(two.release()).isFalse();
    assertThat(limiter.peek("k").remaining()).isEqualTo(1);
    store.reset(binding, key, 0, known -> assertThat(known).isTrue());
    Seat third = limiter.seat("k");
    assertThat(third.release()).isTrue();
    Redis.await(() -> server.command("EXISTS", name).equals("0"));
  }
}
