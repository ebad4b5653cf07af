package dev.weir;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** The seats of a limiter. Safe for use by many threads. */
final class Seats {
  /** A receiver of the result of a renewal. */
  interface RenewalSink {
    /**
     * Accepts the result.
     *
     * @param result lost if any permits are, else unanswered if any renewal is
     * @param end the end of the hold, if all are renewed
     */
    void accept(Renewal result, SeatEnd end);
  }

  private final Requests requests;
  private final SeatQueue queue;

  Seats(Requests requests) {
    this.requests = requests;
    this.queue = new SeatQueue(this, requests.ticker);
  }

  long nanos() {
    return requests.ticker.nanos();
  }

  /**
   * Takes permits now.
   *
   * @throws IllegalStateException if no policy is one of {@link Algorithm#CONCURRENCY}
   */
  Seat take(long fingerprint, long permits) {
    PolicySet set = requests.set();
    SeatEnd until = end(set);
    return seat(fingerprint, permits, requests.decideIn(set, fingerprint, permits), until);
  }

  /** Takes permits now, without waiting for the store. */
  void take(long fingerprint, long permits, Consumer<Seat> done) {
    PolicySet set = requests.set();
    SeatEnd until = end(set);
    requests.decide(
        set,
        fingerprint,
        permits,
        decision -> done.accept(seat(fingerprint, permits, decision, until)));
  }

  /** Takes permits within a timeout, after those that came before. */
  CompletableFuture<Seat> await(long fingerprint, long permits, long timeoutNanos) {
    Requests.checked(permits);
    long unused = holdNanos(requests.set());
    return queue.join(fingerprint, permits, timeoutNanos);
  }

  /** Reports a seat to the limiter's listener. */
  Seat reported(Seat seat, long permits) {
    Decision unused = requests.reported(seat.decision(), permits);
    return seat;
  }

  private Seat seat(long fingerprint, long permits, Decision decision, SeatEnd end) {
    return new Seat(this, fingerprint, permits, decision, end);
  }

  private SeatEnd end(PolicySet set) {
    return SeatEnd.after(holdNanos(set), requests.ticker, isAlone());
  }

  /** Returns how long a seat is held; 0 or less if its end has come. */
  long leftNanos(SeatEnd end) {
    return end.leftNanos(requests.ticker, isAlone());
  }

  /** Returns whether the wall clock does not matter; see {@link SeatEnd}. */
  private boolean isAlone() {
    return requests.local() != null || requests.ticker != Ticker.system();
  }

  /** Returns for how long a holder has a seat, from the instant before its request was sent. */
  private static long holdNanos(PolicySet set) {
    long hold = Long.MAX_VALUE;
    for (int i = 0; i < set.size(); i++) {
      Policy policy = set.policy(i);
      if (policy.algorithm() == Algorithm.CONCURRENCY) {
        hold = Math.min(hold, policy.quota().windowNanos());
      }
    }
    if (hold == Long.MAX_VALUE) {
      throw new IllegalStateException(
          "policies: none of " + Algorithm.CONCURRENCY + " (expected: one at least, for seats)");
    }
    return hold - hold / 100;
  }

  /** Returns the charges of a decision that are seats of policies in force. */
  private static List<PolicySet.ChargedPolicy> seats(PolicySet set, Decision decision) {
    List<PolicySet.ChargedPolicy> seats = new ArrayList<>(1);
    for (PolicySet.ChargedPolicy each : set.charged(decision)) {
      if (each.binding().policy().algorithm() == Algorithm.CONCURRENCY) {
        seats.add(each);
      }
    }
    return seats;
  }

  /** Returns whether a seat is counted in the store; it is not if the store could not answer. */
  private static boolean isCounted(PolicySet.ChargedPolicy seat) {
    return seat.decision().reason() == Reason.WITHIN_LIMIT;
  }

  void renew(long fingerprint, long permits, Decision decision, RenewalSink done) {
    long sent = nanos();
    PolicySet set = requests.set();
    List<PolicySet.ChargedPolicy> seats = seats(set, decision);
    if (seats.isEmpty()) { // Its policy is gone, so nothing counts it any longer.
      done.accept(Renewal.LOST, new SeatEnd(sent, 0));
      return;
    }
    SeatEnd until = end(set);
    AtomicInteger left = new AtomicInteger(1 + seats.size());
    AtomicReference<Renewal> worst = new AtomicReference<>(Renewal.RENEWED);
    Consumer<Renewal> each =
        one -> {
          Renewal so = worst.accumulateAndGet(one, Seats::worse);
          if (left.decrementAndGet() == 0) {
            if (so == Renewal.LOST) { // What is left of it must not count on.
              release(fingerprint, permits, decision, given -> {});
            }
            done.accept(so, until);
          }
        };
    for (PolicySet.ChargedPolicy seat : seats) {
      if (isCounted(seat)) {
        requests.store.renew(seat.binding(), fingerprint, seat.decision(), sent, each);
      } else {
        each.accept(Renewal.RENEWED);
      }
    }
    each.accept(Renewal.RENEWED);
  }

  private static Renewal worse(Renewal one, Renewal other) {
    return one == Renewal.LOST || other == Renewal.RENEWED ? one : other;
  }

  /** Returns whether the store answers on the caller's thread. */
  boolean answersNow() {
    return requests.local() != null;
  }

  /** Returns whether a decision is that of the policy alone, and its seat counted in the store. */
  private static boolean isOneSeat(Policy policy, Decision decision) {
    return policy.algorithm() == Algorithm.CONCURRENCY
        && policy.throttle().isHard()
        && decision.parts().isEmpty()
        && decision.reason() == Reason.WITHIN_LIMIT;
  }

  /** Gives a seat back like {@link #release}, if the store answers on the caller's thread. */
  boolean releaseNow(long fingerprint, long permits, Decision decision) {
    LocalStore store = Check.notNull("store", requests.local());
    PolicySet set = requests.set();
    if (set.only != null && isOneSeat(set.policy(0), decision)) {
      long given = store.refund(set.only, fingerprint, permits, decision, nanos());
      queue.released(fingerprint);
      return given == permits;
    }
    boolean all = false;
    boolean any = false;
    for (PolicySet.ChargedPolicy each : seats(set, decision)) {
      if (isCounted(each)) {
        long given = store.refund(each.binding(), fingerprint, permits, each.decision(), nanos());
        all = given == permits && (all || !any);
        any = true;
      }
    }
    queue.released(fingerprint);
    return all;
  }

  void release(long fingerprint, long permits, Decision decision, Consumer<Boolean> done) {
    List<PolicySet.ChargedPolicy> counted = seats(requests.set(), decision);
    counted.removeIf(each -> !isCounted(each));
    AtomicInteger left = new AtomicInteger(1 + counted.size());
    AtomicBoolean all = new AtomicBoolean(!counted.isEmpty());
    Consumer<Boolean> each =
        given -> {
          if (!given) {
            all.set(false);
          }
          if (left.decrementAndGet() == 0) {
            queue.released(fingerprint);
            done.accept(all.get());
          }
        };
    for (PolicySet.ChargedPolicy seat : counted) {
      requests.store.refund(
          seat.binding(),
          fingerprint,
          permits,
          seat.decision(),
          nanos(),
          given -> each.accept(given == permits));
    }
    each.accept(true);
  }
}
