package dev.weir.adaptive;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A permit of an {@link AdaptiveLimiter} for one request, or the refusal of one. Safe for use by
 * many threads.
 *
 * <p>Its outcome is recorded once, and it ends once; later calls do nothing. Both mostly happen
 * together ({@link #end(RequestOutcome)}). A request whose response is long records its outcome
 * when the response begins, and ends when it is over: its permit counts until then, and the
 * duration of the response is not taken for a latency.
 *
 * <p>A permit that never ends counts for ever: nothing takes it back.
 */
public final class AdaptivePermit implements AutoCloseable {
  private static final AtomicIntegerFieldUpdater<AdaptivePermit> STATE =
      AtomicIntegerFieldUpdater.newUpdater(AdaptivePermit.class, "state");

  /** The permit that is none: it was refused. */
  static final AdaptivePermit REFUSED = new AdaptivePermit();

  private static final int RECORDED = 1;
  private static final int ENDED = 2;

  private final @Nullable AdaptiveLimiter limiter;
  private final int inFlight;
  private volatile long beganNanos;
  private volatile int state;

  private AdaptivePermit() {
    limiter = null;
    inFlight = 0;
    state = RECORDED | ENDED;
  }

  /**
   * Makes a permit that is out.
   *
   * @param inFlight the permits that were out then, with this one
   */
  AdaptivePermit(AdaptiveLimiter limiter, int inFlight, long beganNanos) {
    this.limiter = limiter;
    this.inFlight = inFlight;
    this.beganNanos = beganNanos;
  }

  /** Returns whether the request may begin; otherwise it is refused. */
  public boolean granted() {
    return limiter != null;
  }

  /** Returns whether the permit has ended, or was refused. */
  public boolean hasEnded() {
    return (state & ENDED) != 0;
  }

  /**
   * Measures the latency from now on, for a request that had to wait for something else after it
   * was given the permit. Without effect once an outcome is recorded.
   */
  public void restart() {
    if (limiter != null) {
      beganNanos = limiter.nanos();
    }
  }

  /**
   * Records the outcome of the request, once, while its permit still counts: when its response
   * begins.
   *
   * @return whether it was recorded; false if another was before, or the permit has ended
   */
  public boolean record(RequestOutcome outcome) {
    if ((add(RECORDED) & RECORDED) != 0 || limiter == null) {
      return false;
    }
    limiter.learn(outcome, beganNanos, inFlight);
    return true;
  }

  /**
   * Records the outcome of the request, unless one is recorded, and gives the permit back, once.
   *
   * @return whether this call has given it back
   */
  public boolean end(RequestOutcome outcome) {
    int before = add(RECORDED | ENDED);
    if (limiter == null) {
      return false;
    }
    if ((before & RECORDED) == 0) {
      limiter.learn(outcome, beganNanos, inFlight); // First: a drop keeps the place from others.
    }
    if ((before & ENDED) != 0) {
      return false;
    }
    limiter.release();
    return true;
  }

  /** Gives the permit back. If no outcome is recorded, nothing is learnt from the request. */
  @Override
  public void close() {
    boolean unused = end(RequestOutcome.IGNORED);
  }

  /** Adds bits to the state; returns those that were there before. */
  private int add(int bits) {
    int before = state;
    while ((before & bits) != bits && !STATE.compareAndSet(this, before, before | bits)) {
      before = state;
    }
    return before;
  }
}
