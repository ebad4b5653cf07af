package dev.weir.http.outgoing;

import dev.weir.engine.Answer;
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
 * #notSent}. It reports nothing if the request failed in transmission, because it may have arrived.
 */
public final class Admission {
  private final OutgoingLimiter limiter;
  private final @Nullable LocalRefusal refusal;
  private final @Nullable Request charged;
  private final @Nullable Answer answer;
  private final long atNanos;
  private final AtomicBoolean over = new AtomicBoolean();

  private Admission(
      OutgoingLimiter limiter,
      @Nullable LocalRefusal refusal,
      @Nullable Request charged,
      @Nullable Answer answer) {
    this.limiter = limiter;
    this.refusal = refusal;
    this.charged = charged;
    this.answer = answer;
    this.atNanos = limiter.ticker.nanos();
  }

  static Admission refused(OutgoingLimiter limiter, LocalRefusal refusal) {
    return new Admission(limiter, refusal, null, null);
  }

  /** Makes an admission; request and answer are null if no rule applied. */
  static Admission admitted(
      OutgoingLimiter limiter, @Nullable Request charged, @Nullable Answer answer) {
    return new Admission(limiter, null, charged, answer);
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
    if (limiter.decider != null
        && charged != null
        && answer != null
        && over.compareAndSet(false, true)) {
      limiter.decider.refund(charged, answer, permits -> {});
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
