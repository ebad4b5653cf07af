package dev.weir.replay.internal.judge;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Engine;
import dev.weir.engine.Status;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The seats that the requests of a run take: each from its admission until it has ended. For one
 * thread.
 */
final class RunSeats {
  /*
   * Why RequestSeats, which is the middleware's? A seat is renewed each third of its hold, and is
   * given back after `longest` at the latest. A replay that did this by itself could differ from
   * what a server does. Here a request's end is a task on the run's clock.
   *
   * A request counts from its admission on: one that has waited ends later by the time it waited,
   * since it takes as long as it took. A task that is due at the very instant of a request comes
   * first: seats are out in [begin, end).
   */

  /** The most requests whose end is followed at once; each takes some 1.5 KiB with its seat. */
  static final int MOST_IN_FLIGHT = 1_000_000;

  private static final long LONGEST_NANOS = RequestSeats.LONGEST.toNanos();

  private final VirtualTime time;
  private final RequestSeats seats;
  private final KeyNames names;
  private final SeatTally tally;
  private final @Nullable History history;
  private final int mostInFlight;
  private int inFlight;

  /**
   * @param history a history that receives all requests as well; or null
   */
  RunSeats(
      Engine engine, VirtualTime time, KeyNames names, SeatTally tally, @Nullable History history) {
    this(engine, time, names, tally, history, MOST_IN_FLIGHT);
  }

  /**
   * @param history a history that receives all requests as well; or null
   * @param mostInFlight the most requests in flight at once
   */
  RunSeats(
      Engine engine,
      VirtualTime time,
      KeyNames names,
      SeatTally tally,
      @Nullable History history,
      int mostInFlight) {
    this.history = history;
    this.mostInFlight = mostInFlight;
    this.time = time;
    this.names = names;
    this.tally = tally;
    seats = new RequestSeats(engine, time, RequestSeats.LONGEST);
  }

  /** The permits that a request asks of a key. */
  private record WantedSeats(RuleKey key, long permits) {}

  private interface SeatStatus {
    void accept(RuleKey key, long permits, Policy policy);
  }

  /** Passes on the statuses of limits at the same time, with the permits that were asked for. */
  private void each(Request request, Answer answer, SeatStatus action) {
    List<Status> statuses = answer.statuses();
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      Rule rule = status.rule();
      CurrentLimit limit = status.currentLimit();
      Descriptor descriptor = request.descriptors().get(i);
      Long permits = descriptor.permits();
      if (rule != null
          && limit != null
          && limit.policy().algorithm() == Algorithm.CONCURRENCY
          && permits != null
          && permits > 0) {
        action.accept(names.of(rule, descriptor), permits, limit.policy());
      }
    }
  }

  /**
   * Counts a request that has come, whatever its answer.
   *
   * @param durationNanos the time that it takes, at least 0
   */
  void came(Request request, Answer answer, long durationNanos) throws IOException {
    List<WantedSeats> wanted = new ArrayList<>(1);
    each(
        request,
        answer,
        (key, permits, policy) ->
            wanted.add(new WantedSeats(key, Math.min(permits, KeyUse.MAX_PERMITS))));
    if (wanted.isEmpty()) {
      return;
    }
    if (++inFlight > mostInFlight) {
      throw new IOException(
          "input: more than "
              + mostInFlight
              + " requests in flight at once (expected: at most that many; are the durations in"
              + " another unit?)");
    }
    for (WantedSeats each : wanted) {
      tally.wanted(each.key, each.permits);
      if (history != null) {
        history.came(each.key, time.nanos(), each.permits, durationNanos);
      }
    }
    time.schedule(
        Math.min(durationNanos, LONGEST_NANOS),
        () -> {
          inFlight--;
          wanted.forEach(each -> tally.wanted(each.key, -each.permits));
        });
  }

  /**
   * Takes the seats of a request that is admitted now, and gives them back at its end.
   *
   * @param durationNanos the time that it takes from now on, at least 0
   */
  void admitted(Request request, Answer answer, long durationNanos) {
    RequestSeat seat = seats.take(request, answer, "replay");
    if (seat == null) {
      return;
    }
    each(
        request,
        answer,
        (key, permits, policy) -> {
          if (durationNanos > LONGEST_NANOS) {
            tally.cutShort(key.rule());
          }
          tally.out(key, permits, policy.quota().permits(), time.nanos());
        });
    time.schedule(
        Math.min(durationNanos, LONGEST_NANOS),
        () -> {
          seat.end();
          each(
              request,
              answer,
              (key, permits, policy) ->
                  tally.out(key, -permits, policy.quota().permits(), time.nanos()));
        });
  }
}
