package dev.weir.http.outgoing;

import dev.weir.Decision;
import dev.weir.Ticker;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import dev.weir.internal.RememberedRefusals;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One outgoing request on its path to an {@link Admission}. Safe for use by many threads. */
final class Attempt implements Ticket {
  /*
   * A step first checks the service's earlier refusals, then the rules, and then takes a permit of
   * the adaptive limit, whose latency so has no wait for the others in it. A refusal states a time.
   * If that is within the time left, the next step follows then, or when the rule's own queue
   * admits the request. No thread waits: a step runs on the caller's thread, on one of the
   * ticker's, or on one of the decider's.
   *
   * Exactly one of finish() and leave() ends an attempt: the one that sets the state DONE. A charge
   * that comes after leave() is given back.
   */

  private enum State {
    ASKING,
    /**
     * The state of an attempt that counts among those that wait, from its first wait to its end.
     */
    WAITING,
    DONE
  }

  /**
   * The shortest wait: a busy machine oversleeps a shorter one anyway, and steps must not follow
   * each other without pause.
   */
  private static final long MIN_WAIT_NANOS = 1_000_000L;

  private final OutgoingLimiter limiter;
  private final @Nullable AdaptiveLimiter adaptive;
  private final String host;
  private final HostKey place;
  private final @Nullable Request asked;
  private final long endNanos;
  private final AtomicReference<State> state = new AtomicReference<>(State.ASKING);
  private volatile @Nullable Consumer<? super Admission> done;
  private volatile Ticket queued = USED;
  private volatile Ticker.ScheduledTask next = () -> {};
  private volatile @Nullable CompletableFuture<AdaptivePermit> awaited;

  Attempt(
      OutgoingLimiter limiter,
      OutgoingRequest request,
      @Nullable Request asked,
      long maxWaitNanos,
      Consumer<? super Admission> done) {
    this.limiter = limiter;
    this.adaptive = limiter.adaptive(request);
    this.host = request.host();
    this.place = limiter.place(request);
    this.asked = asked;
    this.endNanos = limiter.ticker.nanos() + maxWaitNanos;
    this.done = done;
  }

  void step() {
    Decider decider = limiter.decider;
    if (state.get() == State.DONE || holds()) {
      return;
    }
    if (decider == null || asked == null) {
      place(null);
    } else {
      decider.decide(asked, answer -> decided(decider, asked, answer));
    }
  }

  /** Waits, or is refused, if the service has refused requests until a later time. */
  private boolean holds() {
    RememberedRefusals.Refusal refusal = limiter.refusals.find(place);
    if (refusal == null) {
      return false;
    }
    long now = limiter.ticker.nanos();
    await(LocalRefusal.of(host, refusal, now), refusal.untilNanos() - now);
    return true;
  }

  private void decided(Decider decider, Request request, Answer answer) {
    long left = endNanos - limiter.ticker.nanos();
    if (answer.allowed()) {
      admitted(decider, request, answer);
    } else if (left > 0 && answer.maxWaitNanos() > 0) {
      queue(decider, request, answer, left);
    } else {
      LocalRefusal refusal = LocalRefusal.of(host, request, answer);
      await(refusal, refusal.retryAfterNanos());
    }
  }

  private void queue(Decider decider, Request request, Answer answer, long left) {
    if (state.get() == State.ASKING && limiter.isFull()) {
      finish(Admission.refused(limiter, LocalRefusal.of(host, request, answer)));
      return;
    }
    queued =
        decider.enqueue(
            request,
            answer,
            left,
            last -> {
              if (last.allowed()) {
                admitted(decider, request, last);
              } else {
                finish(Admission.refused(limiter, LocalRefusal.of(host, request, last)));
              }
            });
    if (state.get() == State.DONE) {
      queued.leave(); // It left before it had the ticket.
    } else if (!startWaiting() && queued.leave()) {
      finish(Admission.refused(limiter, LocalRefusal.of(host, request, answer)));
    }
  }

  /** Passes, unless the service has refused requests meanwhile. */
  private void admitted(Decider decider, Request request, Answer answer) {
    if (limiter.refusals.find(place) == null) {
      place(new Admission.Charge(decider, request, answer, limiter.seat(request, answer, host)));
      return;
    }
    decider.refund(request, answer, permits -> {});
    step();
  }

  /** Takes a permit of the adaptive limit, or waits for it; passes at once if there is no limit. */
  private void place(Admission.@Nullable Charge charge) {
    AdaptiveLimiter adaptive = this.adaptive;
    if (adaptive == null) {
      finish(Admission.admitted(limiter, charge));
      return;
    }
    long left = endNanos - limiter.ticker.nanos();
    boolean mayWait = left > 0 && (state.get() == State.WAITING || !limiter.isFull());
    CompletableFuture<AdaptivePermit> permit =
        adaptive.acquireAsync(Duration.ofNanos(mayWait ? left : 0));
    if (permit.isDone()) {
      placed(charge, adaptive, permit.join());
      return;
    }
    CompletableFuture<Void> unused =
        permit.handle(
            (given, error) -> {
              placed(charge, adaptive, error == null ? given : null);
              return null;
            });
    awaited = permit;
    if (state.get() == State.DONE || !startWaiting()) {
      permit.cancel(false); // It left before this was known, or others wait by now.
    }
  }

  /**
   * Ends with the permit, unless the service has refused requests while this waited for it.
   *
   * @param permit null if it has left
   */
  private void placed(
      Admission.@Nullable Charge charge,
      AdaptiveLimiter adaptive,
      @Nullable AdaptivePermit permit) {
    boolean granted = permit != null && permit.granted();
    if (permit != null && granted && limiter.refusals.find(place) == null) {
      finish(Admission.admitted(limiter, charge, permit, host));
      return;
    }
    if (charge != null) {
      charge.refund();
    }
    if (permit != null && granted) {
      permit.close();
      step();
    } else {
      finish(Admission.refused(limiter, LocalRefusal.of(host, adaptive)));
    }
  }

  /** Tries again after a time, if it is not too late then. */
  private void await(LocalRefusal refusal, long nanos) {
    long wait = Math.max(MIN_WAIT_NANOS, nanos);
    boolean inTime = nanos != Decision.NEVER && wait <= endNanos - limiter.ticker.nanos();
    if (inTime) {
      // Before it counts as waiting: a test that sees it wait moves the time.
      next = limiter.ticker.schedule(wait, this::step);
      if (state.get() == State.DONE) {
        next.cancel(); // It left in the meantime.
      }
    }
    if (!inTime || !startWaiting()) {
      finish(Admission.refused(limiter, refusal));
    }
  }

  /**
   * Counts this among the attempts that wait, after its next step is scheduled or queued. Returns
   * false if there is no room.
   */
  private boolean startWaiting() {
    if (state.get() != State.ASKING) {
      return true; // It is among them already, or its next step will find that it is over.
    }
    if (!limiter.startWaiting()) {
      return false;
    }
    if (!state.compareAndSet(State.ASKING, State.WAITING)) {
      limiter.stopWaiting();
    }
    return true;
  }

  private @Nullable Consumer<? super Admission> end() {
    State before = state.getAndSet(State.DONE);
    if (before == State.WAITING) {
      limiter.stopWaiting();
    }
    Consumer<? super Admission> taken = done;
    done = null; // The caller may keep the ticket; nothing else is kept with it.
    next.cancel();
    return before == State.DONE ? null : taken;
  }

  private void finish(Admission admission) {
    Consumer<? super Admission> taken = end();
    if (taken == null) {
      admission.notSent();
    } else {
      taken.accept(admission);
    }
  }

  @Override
  public boolean leave() {
    if (end() == null) {
      return false;
    }
    queued.leave();
    CompletableFuture<AdaptivePermit> permit = awaited;
    if (permit != null) {
      permit.cancel(false);
    }
    return true;
  }
}
