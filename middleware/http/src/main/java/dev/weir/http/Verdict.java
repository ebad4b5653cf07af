package dev.weir.http;

import dev.weir.Quota;
import dev.weir.engine.Answer;
import dev.weir.engine.Ticket;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.identity.RequestView;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.MediaType;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.ProblemType;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The result of a {@link RequestLimiter} for one request, with the answer to send. Safe for use by
 * many threads.
 *
 * <p>A server uses it in these steps, in this order:
 *
 * <ol>
 *   <li>If the request does not pass but may wait ({@link #maxWaitNanos}), it can {@link #enqueue}
 *       it and continue with the verdict that comes.
 *   <li>It adds the {@link #fields} to the response, before the response may be committed.
 *   <li>If the request passes, it serves it, and calls {@link #responded(int, String)} when the
 *       head of the response is sent, and {@link #ended} when the request has ended in whatever
 *       way; or {@link #abandoned} if it was not served.
 *   <li>Otherwise it answers with {@link #status} and {@link #refusal}, and reads no body.
 * </ol>
 */
public final class Verdict {
  /** The verdict on a request that nothing limits. */
  static final Verdict UNLIMITED = new Verdict();

  private static final AtomicIntegerFieldUpdater<Verdict> SETTLED =
      AtomicIntegerFieldUpdater.newUpdater(Verdict.class, "settled");

  private static final int SETTLED_NOW = 1;
  private static final int REFUND_AT_END = 2;

  private final @Nullable RequestLimiter limiter;
  private final @Nullable RequestView view;
  private final @Nullable Request request;
  private final @Nullable Answer answer;
  private final @Nullable String missing;
  private final @Nullable RequestSeat seat;
  private final @Nullable AdaptivePlace place;

  /** Made when it is needed, at worst by several threads: most requests pass and need none. */
  private @Nullable CheckAnswer check;

  /** The state of the outcome: 0 while it is unknown, then one of the constants above. */
  private volatile int settled;

  /** True if the application has counted the request. */
  private volatile boolean called;

  private Verdict() {
    limiter = null;
    view = null;
    request = null;
    answer = null;
    missing = null;
    seat = null;
    place = null;
  }

  /** Makes the verdict on a request that lacks a required value. */
  Verdict(RequestLimiter limiter, RequestView view, String missing) {
    this.limiter = limiter;
    this.view = view;
    this.request = null;
    this.answer = null;
    this.missing = missing;
    this.seat = null;
    this.place = null;
  }

  /** Makes the verdict on a request that no rule limits: whether it has a place. */
  Verdict(RequestLimiter limiter, RequestView view, AdaptivePlace place) {
    this.limiter = limiter;
    this.view = view;
    this.request = null;
    this.answer = null;
    this.missing = null;
    this.seat = null;
    this.place = place;
  }

  private Verdict(
      RequestLimiter limiter,
      RequestView view,
      Request request,
      Answer answer,
      @Nullable AdaptivePlace place) {
    this.limiter = limiter;
    this.view = view;
    this.request = request;
    this.answer = answer;
    this.missing = null;
    this.seat = limiter.seat(view, request, answer);
    this.place = place;
  }

  /** Makes the verdict on a request that the rules have decided; a refusal needs no place. */
  static Verdict of(
      RequestLimiter limiter,
      RequestView view,
      Request request,
      Answer answer,
      @Nullable AdaptivePlace place) {
    if (place == null) {
      return new Verdict(limiter, view, request, answer, null);
    }
    if (!answer.allowed()) {
      place.end();
      return new Verdict(limiter, view, request, answer, null);
    }
    place.begin();
    return new Verdict(limiter, view, request, answer, place);
  }

  /** Makes the verdict on a request that has waited for the rules, and had no place meanwhile. */
  private static Verdict afterWaiting(
      RequestLimiter limiter, RequestView view, Request request, Answer answer) {
    AdaptivePlace place = answer.allowed() ? limiter.place(view) : null;
    if (place == null || place.granted()) {
      return of(limiter, view, request, answer, place);
    }
    new Verdict(limiter, view, request, answer, null).abandoned(); // What it was charged.
    return new Verdict(limiter, view, place);
  }

  /** Returns whether the request may pass. */
  public boolean passes() {
    if (answer != null) {
      return answer.allowed();
    }
    return missing == null && hasRoom();
  }

  /** Returns whether no adaptive limit refuses the request. */
  private boolean hasRoom() {
    return place == null || place.granted();
  }

  /** Returns the answer of the decider, or null if it was not called. */
  public @Nullable Answer answer() {
    return answer;
  }

  /** Returns the request that was decided, or null if the decider was not called. */
  public @Nullable Request request() {
    return request;
  }

  /**
   * Returns the HTTP status: 200 if the request passes; 429 if a limit is exceeded; 503 if that
   * cannot be decided now, or as many requests are served as the adaptive limit admits; 400 if the
   * request lacks a required value.
   */
  public int status() {
    if (passes()) {
      return 200;
    }
    CheckAnswer checked = check();
    return checked != null ? checked.httpStatus() : missing != null ? 400 : 503;
  }

  /** Returns the decider's answer in the form of the service, or null if there is none. */
  private @Nullable CheckAnswer check() {
    CheckAnswer checked = check;
    if (checked == null && request != null && answer != null && answer.error() == null) {
      OlderFields older = limiter == null ? OlderFields.NONE : limiter.style().older();
      checked = new CheckAnswer(request, answer, older);
      check = checked;
    }
    return checked;
  }

  /**
   * Adds the header fields of the response, whether the request passes or not. The body's type is
   * not among them. Each call adds all of them.
   *
   * @param add adds a field, besides others of its name: a second limiter adds a member to a list.
   *     Names and values have printable ASCII characters only
   */
  public void fields(BiConsumer<String, String> add) {
    if (limiter == null || view == null) {
      return;
    }
    RefusalStyle style = limiter.style();
    if (answer != null && answer.error() == null) {
      style.standing(answer, add);
      style.expose(view, add);
    }
    if (!passes()) {
      CheckAnswer checked = check();
      if (checked != null) {
        style.retry(checked.retryAfterSeconds(), add);
      }
      add.accept("Cache-Control", "no-store");
      style.allow(view, add);
    }
  }

  /**
   * Returns the body of a refusal, in the form that the client prefers: a problem document (RFC
   * 9457), the same bytes as the service's {@code /v1/check} sends; a sentence; or a short page.
   *
   * @throws IllegalStateException if the request passes
   */
  public Refusal refusal() {
    if (passes() || view == null) {
      throw new IllegalStateException("verdict: passes (expected: a refusal)");
    }
    MediaType type = MediaType.preferred(view.headers("Accept"));
    CheckAnswer checked = check();
    return new Refusal(
        type.contentType(),
        switch (type) {
          case PROBLEM ->
              checked == null ? ProblemType.document(status(), title(), detail()) : checked.json();
          case TEXT -> (detail() + "\n").getBytes(StandardCharsets.UTF_8);
          case HTML -> RefusalStyle.html(status(), title(), detail());
        });
  }

  private String title() {
    return switch (status()) {
      case 400 -> "Bad request";
      case 429 -> "Too many requests";
      default -> "Temporarily unavailable";
    };
  }

  /**
   * Returns a sentence with the reason of a refusal, else OK. The reason for which the decider
   * could not decide is not for the client: {@link Answer#error()} has it.
   */
  public String detail() {
    if (missing != null) {
      return missing + ": missing (expected: one value)";
    }
    CheckAnswer checked = check();
    if (checked != null) {
      return checked.detail();
    }
    if (!hasRoom()) {
      return "As many requests are served at the same time as can be now.";
    }
    return passes() ? "OK" : "The limits of this request cannot be checked now.";
  }

  /** Returns the time for which a refused request may wait for its turn; 0 if it may not wait. */
  public long maxWaitNanos() {
    return answer == null || limiter == null || answer.error() != null
        ? 0
        : Math.min(answer.maxWaitNanos(), limiter.maxWaitNanos());
  }

  /**
   * Queues a refused request, which then waits for its turn.
   *
   * @param maxWaitNanos the most that it can wait, besides {@link #maxWaitNanos()}
   * @param done receives the verdict that counts then, exactly once unless the request leaves
   */
  public Ticket enqueue(long maxWaitNanos, Consumer<? super Verdict> done) {
    RequestLimiter asked = limiter;
    RequestView seen = view;
    Request waiting = request;
    Answer refused = answer;
    long wait = Math.min(maxWaitNanos, maxWaitNanos());
    if (asked == null || seen == null || waiting == null || refused == null || wait <= 0) {
      done.accept(this);
      return Ticket.USED;
    }
    return asked
        .decider()
        .enqueue(
            waiting,
            refused,
            wait,
            later ->
                done.accept(
                    later.equals(refused) ? this : afterWaiting(asked, seen, waiting, later)));
  }

  /**
   * Returns whether the outcome of the request matters. Otherwise a server need not determine it,
   * and may leave out {@link #responded(int, String)}.
   */
  public boolean awaitsStatus() {
    return limiter != null && (limiter.countsSome() || place != null);
  }

  /**
   * Counts the request, whatever its status: its permits are not given back. To be called before
   * the request is answered; without effect after that, and where the limiter does not count by
   * such calls ({@link RequestLimiter.Builder#refundUnlessCounted}).
   */
  public void count() {
    called = true;
  }

  /**
   * Reports what a request that has passed did cost, to a limiter that takes costs so ({@link
   * RequestLimiter.Builder#costsReported}): the permits are counted whatever is left. Each call
   * adds, also after the response has ended. Without effect with any other limiter. Does not wait
   * for the store; a report that it could not count is not repeated.
   *
   * @param permits at least 0, at most {@link Quota#MAX_PERMITS}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public void charge(long permits) {
    if (permits < 0 || permits > Quota.MAX_PERMITS) {
      throw new IllegalArgumentException(
          "permits: " + permits + " (expected: 0.." + Quota.MAX_PERMITS + ")");
    }
    if (limiter != null && limiter.costsReported() && request != null && passes()) {
      limiter.decider().decide(report(request, permits), counted -> {});
    }
  }

  private static Request report(Request asked, long permits) {
    Long each = permits;
    List<Descriptor> descriptors =
        asked.descriptors().stream()
            .map(
                descriptor ->
                    new Descriptor(descriptor.entries(), descriptor.limitOverride(), each))
            .toList();
    return new Request(asked.domain(), descriptors, 1, true);
  }

  /** Returns whether the limiter takes reports ({@link #charge}), so that it is worth keeping. */
  public boolean takesReports() {
    return limiter != null && limiter.costsReported();
  }

  /** Records an answer without {@code Location}. See {@link #responded(int, String)}. */
  public void responded(int status) {
    responded(status, null);
  }

  /**
   * Records the head with which the request was answered, after it has passed: an adaptive limit
   * learns the latency, and permits are given back if only other outcomes count, and {@link #count}
   * was not called. Only the first call of this method or {@link #abandoned} has an effect.
   *
   * @param status the status
   * @param location the value of the field {@code Location}; null if there is none
   */
  public void responded(int status, @Nullable String location) {
    if (place != null) {
      place.responded(status);
    }
    if (limiter != null && settle() && !limiter.counts(status, location, called)) {
      settled = REFUND_AT_END; // With its permits a request would lose its seat.
      if (seat == null || seat.hasEnded()) {
        refundAtEnd();
      }
    }
  }

  /** Records that the request has passed but is not served: its permits are given back. */
  public void abandoned() {
    ended();
    if (limiter != null && settle()) {
      giveBack();
    }
  }

  /**
   * Returns whether the request holds seats of limits at the same time, or a place under an
   * adaptive one. They are renewed until it has {@link #ended}, for {@link
   * RequestLimiter.Builder#longestSeat} at most.
   */
  public boolean holdsSeat() {
    return (seat != null && !seat.hasEnded()) || (place != null && !place.hasEnded());
  }

  /**
   * Records that the request has ended: its seats are given back. Only the first call has an
   * effect, and none if there are no seats. Never fails.
   */
  public void ended() {
    if (place != null) {
      place.end();
    }
    if (seat != null) {
      seat.end();
      refundAtEnd();
    }
  }

  private void refundAtEnd() {
    if (SETTLED.compareAndSet(this, REFUND_AT_END, SETTLED_NOW)) {
      giveBack();
    }
  }

  private boolean settle() {
    return settled == 0 && SETTLED.compareAndSet(this, 0, SETTLED_NOW);
  }

  private void giveBack() {
    if (limiter != null && request != null && answer != null && answer.allowed()) {
      limiter.decider().refund(request, answer, given -> {});
    }
  }
}
