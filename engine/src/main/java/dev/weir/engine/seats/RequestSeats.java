package dev.weir.engine.seats;

import dev.weir.Algorithm;
import dev.weir.Ticker;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Decider;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The seats of the requests that one piece of middleware admits: each is renewed until its request
 * has ended, for {@code longest} at most. Safe for use by many threads.
 */
public final class RequestSeats {
  /** The longest that a request keeps its seats, unless another time is set. */
  public static final Duration LONGEST = Duration.ofMinutes(5);

  private static final Duration LEAST_LONGEST = Duration.ofSeconds(1);
  private static final Duration MOST_LONGEST = Duration.ofDays(366);

  final Ticker ticker;
  final long longestNanos;
  final LongAdder lost = new LongAdder();
  final LongAdder leaked = new LongAdder();
  private final @Nullable Decider decider;

  /**
   * Creates it.
   *
   * @param decider gives seats out by rules; null if requests have permits of this process alone
   * @param longest the time after which a seat is given back though no end of its request was
   *     noticed, in the range of {@link #checked}
   */
  public RequestSeats(@Nullable Decider decider, Ticker ticker, Duration longest) {
    this.decider = decider;
    this.ticker = ticker;
    this.longestNanos = checked(longest).toNanos();
  }

  /**
   * Returns the time, which is 1 second to 366 days.
   *
   * @throws IllegalArgumentException if it is not
   */
  public static Duration checked(Duration longest) {
    if (longest.compareTo(LEAST_LONGEST) < 0 || longest.compareTo(MOST_LONGEST) > 0) {
      throw new IllegalArgumentException(
          "longestSeat: " + longest + " (expected: 1 second to 366 days)");
    }
    return longest;
  }

  /**
   * Returns the seats that an admitted request has taken, which are renewed from now on; null if it
   * has taken none. To be called at most once for an answer.
   *
   * @param answer the answer of {@link Decider#decide} or {@link Decider#enqueue} to the request
   * @param name the name of the request in the log, such as its route
   */
  public @Nullable RequestSeat take(Request request, Answer answer, String name) {
    if (decider == null || !mayHave(answer)) {
      return null;
    }
    TakenSeat taken = decider.seat(request, answer);
    return taken == null ? null : RequestSeat.begin(this, taken, name);
  }

  /**
   * Returns a permit of an adaptive limit as a seat, which ends the permit. To be called at most
   * once for a permit.
   *
   * @param name the name of the request in the log, such as its route
   */
  public RequestSeat hold(AdaptivePermit permit, String name) {
    return RequestSeat.begin(this, new PermitSeat(permit), name);
  }

  /**
   * Returns whether a request with this answer may have taken seats: it is admitted, and has a
   * limit at the same time. Most requests have none.
   */
  public static boolean mayHave(Answer answer) {
    if (!answer.allowed()) {
      return false;
    }
    List<Status> statuses = answer.statuses();
    for (int i = 0; i < statuses.size(); i++) {
      CurrentLimit limit = statuses.get(i).currentLimit();
      if (limit != null && limit.policy().algorithm() == Algorithm.CONCURRENCY) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many seats were lost while their requests went on. */
  public long lost() {
    return lost.sum();
  }

  /** Returns how many seats were given back after {@code longest}. */
  public long leaked() {
    return leaked.sum();
  }
}
