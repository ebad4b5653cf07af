package dev.weir.testkit;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Time that stands still until a test moves it. Safe for use by many threads.
 *
 * <p>It may be set back, which a real ticker never does: that is how tests ask what a limiter makes
 * of a bad clock.
 */
public final class FakeTicker implements Ticker {
  private final AtomicLong nanos;

  /** Creates a ticker at the epoch. */
  public FakeTicker() {
    this(0);
  }

  /** Creates a ticker at {@code nanos} since the epoch. */
  public FakeTicker(long nanos) {
    this.nanos = new AtomicLong(nanos);
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  /** Sets the time, forwards or back. Returns this ticker. */
  public FakeTicker set(long toNanos) {
    nanos.set(toNanos);
    return this;
  }

  /** Moves the time by {@code byNanos}, back if negative. Returns this ticker. */
  public FakeTicker advance(long byNanos) {
    nanos.addAndGet(byNanos);
    return this;
  }

  /** Moves the time, back if negative. Returns this ticker. */
  public FakeTicker advance(Duration by) {
    return advance(by.toNanos());
  }

  /**
   * Advances the time, unless another thread has already advanced it as far, and returns at once.
   *
   * @throws InterruptedException if the thread is interrupted; the time then stays
   */
  @Override
  public void sleep(long byNanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted while asleep");
    }
    long until = nanos.get() + byNanos;
    nanos.accumulateAndGet(until, Math::max);
  }
}
