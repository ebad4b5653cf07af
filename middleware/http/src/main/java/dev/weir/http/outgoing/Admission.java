package dev.weir.http.outgoing;

import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.rules.Request;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The result of a limiter for one outgoing request: it may be sent now, or not. Safe for use by
 * many threads.
 *
 * <p>An HTTP client that sends the request reports the outcome by {@link #received} or {@link
 * #notSent}. It reports neither if the request failed in transmission, because it may have arrived.
 * In any case it reports by {@link #ended} when nothing of the response is to come any more.
 */
public final class Admission {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int SERVICE_UNAVAILABLE = 503;

  private final OutgoingLimiter limiter;
  private final @Nullable LocalRefusal refusal;
  private final @Nullable Charge charge;
  private final @Nullable AdaptivePermit permit;
  private final @Nullable RequestSeat place;
  private final long atNanos;
  private final AtomicBoolean over = new AtomicBoolean();

  /**
   * The charge of a request by the rules.
   *
   * @param seat what the request has taken; null if nothing
   */
  record Charge(Decider decider, Request request, Answer answer, @Nullable RequestSeat seat) {
    /** Gives all of it back. */
    void refund() {
      end();
      decider.refund(request, answer, permits -> {});
    }

    /** Gives the seat back. */
    void end() {
      if (seat != null) {
        seat.end();
      }
    }
  }

  private Admission(
      OutgoingLimiter limiter,
      @Nullable LocalRefusal refusal,
      @Nullable Charge charge,
      @Nullable AdaptivePermit permit,
      @Nullable RequestSeat place) {
    this.limiter = limiter;
    this.refusal = refusal;
    this.charge = charge;
    this.permit = permit;
    this.place = place;
    this.atNanos = limiter.ticker.nanos();
  }

  static Admission refused(OutgoingLimiter limiter, LocalRefusal refusal) {
    return new Admission(limiter, refusal, null, null, null);
  }

  /**
   * Makes an admission without an adaptive limit.
   *
   * @param charge null if no rule applied
   */
  static Admission admitted(OutgoingLimiter limiter, @Nullable Charge charge) {
    return new Admission(limiter, null, charge, null, null);
  }

  /** Makes an admission by an adaptive limit, and by the rules if there is a charge. */
  static Admission admitted(
      OutgoingLimiter limiter, @Nullable Charge charge, AdaptivePermit permit, String host) {
    return new Admission(limiter, null, charge, permit, limiter.hold(permit, host));
  }

  /** Returns the refusal if the request must not be sent, or null if it may. */
  public @Nullable LocalRefusal refusal() {
    return refusal;
  }

  /**
   * Records that the request has certainly not been sent: it was cancelled, or answered by a cache.
   * Its charge is given back, once.
   */
  public void notSent() {
    ended();
    if (charge != null && over.compareAndSet(false, true)) {
      charge.refund();
    }
  }

  /**
   * Returns whether the request holds seats of limits at the same time, or a permit of an adaptive
   * one, until {@link #ended}.
   */
  public boolean holdsSeat() {
    return isHeld(charge == null ? null : charge.seat()) || isHeld(place);
  }

  private static boolean isHeld(@Nullable RequestSeat seat) {
    return seat != null && !seat.hasEnded();
  }

  /**
   * Records that the request and the body of its response have ended, in whatever way: its seats
   * are given back. Only the first call has an effect, and none if there are no seats.
   */
  public void ended() {
    if (charge != null) {
      charge.end();
    }
    if (place != null) {
      place.end();
    }
  }

  /**
   * Records that the request has got no connection or no response in time, for an adaptive limit,
   * and that it has ended.
   */
  public void timedOut() {
    record(RequestOutcome.DROPPED);
    ended();
  }

  /**
   * Records for an adaptive limit that the head of the response has come, which is the end of the
   * latency. For clients that report {@link #received} when they have the whole response; otherwise
   * that is enough.
   */
  public void responded(int status) {
    record(outcome(status));
  }

  private void record(RequestOutcome outcome) {
    if (permit != null) {
      boolean unused = permit.record(outcome);
    }
  }

  private static RequestOutcome outcome(int status) {
    if (status == TOO_MANY_REQUESTS || status == SERVICE_UNAVAILABLE) {
      return RequestOutcome.DROPPED;
    }
    return status >= SERVER_ERROR ? RequestOutcome.IGNORED : RequestOutcome.SUCCEEDED;
  }

  /**
   * Records the head of a response. A status 429 or 503 that states how long to wait is kept. A
   * status below 500 that answers a request sent since then ends that refusal.
   *
   * @param answered the request that was answered in the end, for example after a redirect to
   *     another host
   * @param fields returns all lines of a header field of the response by its name, none if there
   *     are none
   */
  public void received(
      OutgoingRequest answered, int status, Function<String, List<String>> fields) {
    over.set(true);
    record(outcome(status));
    limiter.received(answered, atNanos, status, fields);
  }
}
