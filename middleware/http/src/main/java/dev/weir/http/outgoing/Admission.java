package dev.weir.http.outgoing;

import dev.weir.engine.Answer;
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
  private final OutgoingLimiter limiter;
  private final @Nullable LocalRefusal refusal;
  private final @Nullable Request charged;
  private final @Nullable Answer answer;
  private final @Nullable RequestSeat seat;
  private final long atNanos;
  private final AtomicBoolean over = new AtomicBoolean();

  private Admission(
      OutgoingLimiter limiter,
      @Nullable LocalRefusal refusal,
      @Nullable Request charged,
      @Nullable Answer answer,
      @Nullable RequestSeat seat) {
    this.limiter = limiter;
    this.refusal = refusal;
    this.charged = charged;
    this.answer = answer;
    this.seat = seat;
    this.atNanos = limiter.ticker.nanos();
  }

  static Admission refused(OutgoingLimiter limiter, LocalRefusal refusal) {
    return new Admission(limiter, refusal, null, null, null);
  }

  /** Makes an admission to which no rule applied. */
  static Admission unlimited(OutgoingLimiter limiter) {
    return new Admission(limiter, null, null, null, null);
  }

  /**
   * Makes an admission by the rules.
   *
   * @param seat what the request has taken; null if nothing
   */
  static Admission admitted(
      OutgoingLimiter limiter, Request charged, Answer answer, @Nullable RequestSeat seat) {
    return new Admission(limiter, null, charged, answer, seat);
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
    if (limiter.decider != null
        && charged != null
        && answer != null
        && over.compareAndSet(false, true)) {
      limiter.decider.refund(charged, answer, permits -> {});
    }
  }

  /** Returns whether the request holds seats of limits at the same time, until {@link #ended}. */
  public boolean holdsSeat() {
    return seat != null && !seat.hasEnded();
  }

  /**
   * Records that the request and the body of its response have ended, in whatever way: its seats
   * are given back. Only the first call has an effect, and none if there are no seats.
   */
  public void ended() {
    if (seat != null) {
      seat.end();
    }
  }

  /**
   * Records a response. A status 429 or 503 that states how long to wait is kept. A status below
   * 500 that answers a request sent since then ends that refusal.
   *
   * @param answered the request that was answered in the end, for example after a redirect to
   *     another host
   * @param fields returns all lines of a header field of the response by its name, none if there
   *     are none
   */
  public void received(
      OutgoingRequest answered, int status, Function<String, List<String>> fields) {
    over.set(true);
    limiter.received(answered, atNanos, status, fields);
  }
}
