package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Renewal;
import dev.weir.Store;
import dev.weir.testkit.Trials.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of every store for random operations on seats. It is a part of {@link SeatContract}.
 */
public abstract class RandomSeatContract extends StoreFixture {
  private static final long MICRO = 1_000L;
  private static final long SECOND = 1_000_000_000L;
  static final long START = 100 * SECOND;
  static final long HOLD = 10 * SECOND;

  /** Returns whether the store gives permits back by their number. Default: true. */
  protected boolean refundsNewest() {
    return true;
  }

  /** Returns the time by which a key's changes at one instant are apart. */
  final long changeNanos() {
    return Math.max(MICRO, resolutionNanos());
  }

  static Policy seats(long permits) {
    return Policy.concurrency(permits, Duration.ofNanos(HOLD)).name("seats").build();
  }

  static Binding bind(Store store, long permits) {
    return store.bind("seats", seats(permits), START);
  }

  static Decision take(Store store, Binding binding, long nowNanos) {
    return request(store, binding, "k", nowNanos, 1);
  }

  static boolean renew(Store store, Binding binding, Decision charged, long nowNanos) {
    CompletableFuture<Renewal> answer = new CompletableFuture<>();
    store.renew(binding, key("k"), charged, nowNanos, answer::complete);
    Renewal result = await(answer);
    assertThat(result).isNotEqualTo(Renewal.UNANSWERED);
    return result == Renewal.RENEWED;
  }

  static long release(Store store, Binding binding, Decision charged, long nowNanos) {
    return refund(store, binding, "k", 1, charged, nowNanos);
  }

  static long releaseFirst(Store store, Binding binding, long permits, long nowNanos) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    store.refundNewest(binding, key("k"), permits, nowNanos, answer::complete);
    return await(answer);
  }

  /** The kinds of operations on a key's seats. */
  private enum Kind {
    TAKE,
    RELEASE,
    RENEW,
    RELEASE_FIRST,
    LIMIT
  }

  /** An operation; {@code seat} counts back from the one taken last. */
  private record Step(long nowNanos, Kind kind, long permits, int seat) {}

  @Tag("model")
  @Tag("sample")
  @Test
  void randomOperations_agreeWithTheOracle() {
    Trials.run(
        getClass().getSimpleName() + ".randomSeats",
        times(400),
        random -> {
          long limit = random.nextLong(1, 8);
          return new Trial<>("limit " + limit, steps(random), some -> assertAgrees(limit, some));
        });
  }

  private List<Step> steps(SplittableRandom random) {
    List<Step> steps = new ArrayList<>();
    long now = START;
    for (int i = 0; i < 120; i++) {
      now +=
          switch (random.nextInt(5)) {
            case 0 -> steps(random.nextInt(3));
            case 1 -> HOLD / 8 * random.nextInt(5);
            case 2 -> grid(random.nextLong(HOLD / 8));
            default -> 0;
          };
      int kind = random.nextInt(20);
      steps.add(
          switch (kind) {
            case 0 -> new Step(now, Kind.LIMIT, random.nextLong(0, 8), 0);
            case 1 -> new Step(now, refundsNewest() ? Kind.RELEASE_FIRST : Kind.TAKE, 1 + i % 3, 0);
            case 2, 3, 4, 5 -> new Step(now, Kind.RELEASE, 1 + i % 3, random.nextInt(8));
            case 6, 7, 8, 9 -> new Step(now, Kind.RENEW, 0, random.nextInt(8));
            default -> new Step(now, Kind.TAKE, random.nextLong(0, 4), 0);
          });
    }
    return steps;
  }

  private void assertAgrees(long limit, List<Step> steps) {
    Store store = store();
    Binding binding = bind(store, limit);
    SeatOracle oracle = new SeatOracle(limit, HOLD, changeNanos());
    List<Decision> taken = new ArrayList<>();
    for (Step step : steps) {
      long now = step.nowNanos();
      long permits = step.permits();
      Decision seat =
          taken.isEmpty() ? null : taken.get(Math.max(0, taken.size() - 1 - step.seat()));
      if (step.kind() == Kind.LIMIT) {
        binding = store.bind("seats", seats(permits), now);
        oracle.limit(permits);
      } else if (step.kind() == Kind.RELEASE_FIRST) {
        assertThat(releaseFirst(store, binding, permits, now))
            .as("%s", step)
            .isEqualTo(oracle.giveBackFirst(now, permits));
      } else if (step.kind() == Kind.TAKE) {
        Decision answer = request(store, binding, "k", now, permits);
        SeatOracle.Verdict right = oracle.take(now, permits);
        assertThat(answer.allowed()).as("%s", step).isEqualTo(right.allowed());
        assertThat(answer.remaining()).as("remaining, %s", step).isEqualTo(right.remaining());
        assertThat(answer.retryAfterNanos())
            .as("retry-after, %s", step)
            .isEqualTo(right.retryAfterNanos());
        if (answer.allowed() && permits > 0) {
          assertThat(answer.atNanos()).as("taken at, %s", step).isEqualTo(right.atNanos());
          taken.add(answer);
        }
      } else if (seat != null && step.kind() == Kind.RELEASE) {
        assertThat(refund(store, binding, "k", permits, seat, now))
            .as("%s", step)
            .isEqualTo(oracle.giveBack(now, seat.atNanos(), permits));
      } else if (seat != null) {
        assertThat(renew(store, binding, seat, now))
            .as("%s", step)
            .isEqualTo(oracle.renew(now, seat.atNanos()));
      }
    }
    assertThat(oracle.neverBeyondTheLimit()).as("limit at all times").isTrue();
  }
}
