package dev.weir.engine.seats;

import dev.weir.Ticker.ScheduledTask;
import dev.weir.rules.ShownText;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The seats of one request, from its admission until {@link #end}. Safe for use by many threads.
 */
public final class RequestSeat {
  /*
   * When is a seat of a request free again? When the middleware has noticed the request's end; that
   * is the rule. If the process dies, after the hold: nothing renews the seat any more. If the
   * process lives and no end is ever reported, as by most containers for an asynchronous request
   * whose client has left, renewals would keep the seat for ever; so it is given back after
   * `longest`, counted, and logged.
   *
   * It is renewed each third of its hold: two renewals may fail before it is lost. A renewal that
   * gets no answer changes nothing, so the next one is scheduled before the call is made.
   */

  private static final System.Logger LOG = System.getLogger("dev.weir.seats");

  private static final int RENEWALS_IN_A_HOLD = 3;

  private final RequestSeats all;
  private final TakenSeat taken;
  private final String name;
  private final long sinceNanos;
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable ScheduledTask next;

  private RequestSeat(RequestSeats all, TakenSeat taken, String name) {
    this.all = all;
    this.taken = taken;
    this.name = name;
    this.sinceNanos = all.ticker.nanos();
  }

  static RequestSeat begin(RequestSeats all, TakenSeat taken, String name) {
    RequestSeat seat = new RequestSeat(all, taken, name);
    seat.schedule();
    return seat;
  }

  private void schedule() {
    long left = all.longestNanos - age();
    long third = Math.max(1, taken.holdNanos() / RENEWALS_IN_A_HOLD);
    ScheduledTask task = all.ticker.schedule(Math.max(1, Math.min(third, left)), this::due);
    next = task;
    if (over.get()) { // It ended meanwhile, and may have cancelled only the task before.
      task.cancel();
    }
  }

  private long age() {
    return all.ticker.nanos() - sinceNanos;
  }

  private void due() {
    if (over.get()) {
      return;
    }
    if (age() >= all.longestNanos) {
      leaked();
      return;
    }
    schedule();
    taken.renew(
        outcome -> {
          if (outcome == SeatOutcome.LOST && finish()) {
            all.lost.increment();
          }
        });
  }

  private void leaked() {
    if (finish()) {
      all.leaked.increment();
      taken.leaked();
      LOG.log(
          System.Logger.Level.WARNING,
          ShownText.brief(name)
              + ": its seat is given back after "
              + Duration.ofNanos(age()).toSeconds()
              + " s (expected: the end of the request)");
      release();
    }
  }

  /** Gives the seats back, unless they were given back before or lost. Never fails. */
  public void end() {
    if (finish()) {
      release();
    }
  }

  /** Returns whether the seats are given back, or lost. */
  public boolean hasEnded() {
    return over.get();
  }

  /** Returns whether this call has ended the renewals. */
  private boolean finish() {
    if (!over.compareAndSet(false, true)) {
      return false;
    }
    ScheduledTask task = next;
    if (task != null) {
      task.cancel();
    }
    return true;
  }

  private void release() {
    try {
      taken.release(outcome -> {});
    } catch (RuntimeException e) { // The request's own answer must not fail by it.
      LOG.log(System.Logger.Level.WARNING, "a seat is not given back, and free after its hold", e);
    }
  }
}
